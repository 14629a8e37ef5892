// Producers and transactions as administrators see them, and the markers.
//
// Each message is described once (serve.md §1.6): its members, and fields() that lists them in the order of
// the wire with the versions that have them. The names are those of Kafka's message definitions.
#pragma once

#include "core/net/kafka/codec.h"

namespace tk::kafka {

struct WriteTxnMarkersRequest {
  static constexpr MessageType kType{27, 1, 2, 1};
  struct Marker {
    struct Topic {
      std::string name;
      std::vector<std::int32_t> partition_indexes;

      template <class F>
      void fields(F& f) {
        f(name);
        f(partition_indexes);
      }
      friend bool operator==(const Topic&, const Topic&) = default;
    };

    std::int64_t producer_id = -1;
    std::int16_t producer_epoch = -1;
    bool transaction_result = false;
    std::vector<Topic> topics;
    std::int32_t coordinator_epoch = -1;
    std::int8_t transaction_version = 0;

    template <class F>
    void fields(F& f) {
      f(producer_id);
      f(producer_epoch);
      f(transaction_result);
      f(topics);
      f(coordinator_epoch);
      f(transaction_version, Versions{2});
    }
    friend bool operator==(const Marker&, const Marker&) = default;
  };

  std::vector<Marker> markers;

  template <class F>
  void fields(F& f) {
    f(markers);
  }
  friend bool operator==(const WriteTxnMarkersRequest&, const WriteTxnMarkersRequest&) = default;
};

struct WriteTxnMarkersResponse {
  static constexpr MessageType kType{27, 1, 2, 1};
  struct Marker {
    struct Topic {
      struct Partition {
        std::int32_t partition_index = 0;
        std::int16_t error_code = 0;

        template <class F>
        void fields(F& f) {
          f(partition_index);
          f(error_code);
        }
        friend bool operator==(const Partition&, const Partition&) = default;
      };

      std::string name;
      std::vector<Partition> partitions;

      template <class F>
      void fields(F& f) {
        f(name);
        f(partitions);
      }
      friend bool operator==(const Topic&, const Topic&) = default;
    };

    std::int64_t producer_id = -1;
    std::vector<Topic> topics;

    template <class F>
    void fields(F& f) {
      f(producer_id);
      f(topics);
    }
    friend bool operator==(const Marker&, const Marker&) = default;
  };

  std::vector<Marker> markers;

  template <class F>
  void fields(F& f) {
    f(markers);
  }
  friend bool operator==(const WriteTxnMarkersResponse&, const WriteTxnMarkersResponse&) = default;
};

struct DescribeProducersRequest {
  static constexpr MessageType kType{61, 0, 0, 0};
  struct Topic {
    std::string name;
    std::vector<std::int32_t> partition_indexes;

    template <class F>
    void fields(F& f) {
      f(name);
      f(partition_indexes);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::vector<Topic> topics;

  template <class F>
  void fields(F& f) {
    f(topics);
  }
  friend bool operator==(const DescribeProducersRequest&, const DescribeProducersRequest&) = default;
};

struct DescribeProducersResponse {
  static constexpr MessageType kType{61, 0, 0, 0};
  struct Topic {
    struct Partition {
      struct ActiveProducer {
        std::int64_t producer_id = -1;
        std::int32_t producer_epoch = -1;
        std::int32_t last_sequence = 0;
        std::int64_t last_timestamp = 0;
        std::int32_t coordinator_epoch = -1;
        std::int64_t current_txn_start_offset = 0;

        template <class F>
        void fields(F& f) {
          f(producer_id);
          f(producer_epoch);
          f(last_sequence);
          f(last_timestamp);
          f(coordinator_epoch);
          f(current_txn_start_offset);
        }
        friend bool operator==(const ActiveProducer&, const ActiveProducer&) = default;
      };

      std::int32_t partition_index = 0;
      std::int16_t error_code = 0;
      std::optional<std::string> error_message;
      std::vector<ActiveProducer> active_producers;

      template <class F>
      void fields(F& f) {
        f(partition_index);
        f(error_code);
        f(error_message);
        f(active_producers);
      }
      friend bool operator==(const Partition&, const Partition&) = default;
    };

    std::string name;
    std::vector<Partition> partitions;

    template <class F>
    void fields(F& f) {
      f(name);
      f(partitions);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Topic> topics;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(topics);
  }
  friend bool operator==(const DescribeProducersResponse&, const DescribeProducersResponse&) = default;
};

struct DescribeTransactionsRequest {
  static constexpr MessageType kType{65, 0, 0, 0};
  std::vector<std::string> transactional_ids;

  template <class F>
  void fields(F& f) {
    f(transactional_ids);
  }
  friend bool operator==(const DescribeTransactionsRequest&, const DescribeTransactionsRequest&) = default;
};

struct DescribeTransactionsResponse {
  static constexpr MessageType kType{65, 0, 0, 0};
  struct TransactionState {
    struct Topic {
      std::string topic;
      std::vector<std::int32_t> partitions;

      template <class F>
      void fields(F& f) {
        f(topic);
        f(partitions);
      }
      friend bool operator==(const Topic&, const Topic&) = default;
    };

    std::int16_t error_code = 0;
    std::string transactional_id;
    std::string transaction_state;
    std::int32_t transaction_timeout_ms = 0;
    std::int64_t transaction_start_time_ms = 0;
    std::int64_t producer_id = -1;
    std::int16_t producer_epoch = -1;
    std::vector<Topic> topics;

    template <class F>
    void fields(F& f) {
      f(error_code);
      f(transactional_id);
      f(transaction_state);
      f(transaction_timeout_ms);
      f(transaction_start_time_ms);
      f(producer_id);
      f(producer_epoch);
      f(topics);
    }
    friend bool operator==(const TransactionState&, const TransactionState&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<TransactionState> transaction_states;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(transaction_states);
  }
  friend bool operator==(const DescribeTransactionsResponse&, const DescribeTransactionsResponse&) = default;
};

struct ListTransactionsRequest {
  static constexpr MessageType kType{66, 0, 2, 0};
  std::vector<std::string> state_filters;
  std::vector<std::int64_t> producer_id_filters;
  std::int64_t duration_filter = -1;
  std::optional<std::string> transactional_id_pattern;

  template <class F>
  void fields(F& f) {
    f(state_filters);
    f(producer_id_filters);
    f(duration_filter, Versions{1});
    f(transactional_id_pattern, Versions{2});
  }
  friend bool operator==(const ListTransactionsRequest&, const ListTransactionsRequest&) = default;
};

struct ListTransactionsResponse {
  static constexpr MessageType kType{66, 0, 2, 0};
  struct TransactionState {
    std::string transactional_id;
    std::int64_t producer_id = -1;
    std::string transaction_state;

    template <class F>
    void fields(F& f) {
      f(transactional_id);
      f(producer_id);
      f(transaction_state);
    }
    friend bool operator==(const TransactionState&, const TransactionState&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::vector<std::string> unknown_state_filters;
  std::vector<TransactionState> transaction_states;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(error_code);
    f(unknown_state_filters);
    f(transaction_states);
  }
  friend bool operator==(const ListTransactionsResponse&, const ListTransactionsResponse&) = default;
};

}  // namespace tk::kafka
