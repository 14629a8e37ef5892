// Idempotent producers and transactions, as their clients drive them.
//
// Each message is described once (serve.md §1.6): its members, and fields() that lists them in the order of
// the wire with the versions that have them. The names are those of Kafka's message definitions.
#pragma once

#include "core/net/kafka/codec.h"

namespace tk::kafka {

struct InitProducerIdRequest {
  static constexpr MessageType kType{22, 0, 5, 2};
  std::optional<std::string> transactional_id;
  std::int32_t transaction_timeout_ms = 0;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;

  template <class F>
  void fields(F& f) {
    f(transactional_id);
    f(transaction_timeout_ms);
    f(producer_id, Versions{3});
    f(producer_epoch, Versions{3});
  }
  friend bool operator==(const InitProducerIdRequest&, const InitProducerIdRequest&) = default;
};

struct InitProducerIdResponse {
  static constexpr MessageType kType{22, 0, 5, 2};
  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(error_code);
    f(producer_id);
    f(producer_epoch);
  }
  friend bool operator==(const InitProducerIdResponse&, const InitProducerIdResponse&) = default;
};

struct AddPartitionsToTxnRequest {
  static constexpr MessageType kType{24, 0, 3, 3};
  struct Topic {
    std::string name;
    std::vector<std::int32_t> partitions;

    template <class F>
    void fields(F& f) {
      f(name);
      f(partitions);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::string transactional_id;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  std::vector<Topic> topics;

  template <class F>
  void fields(F& f) {
    f(transactional_id);
    f(producer_id);
    f(producer_epoch);
    f(topics);
  }
  friend bool operator==(const AddPartitionsToTxnRequest&, const AddPartitionsToTxnRequest&) = default;
};

struct AddPartitionsToTxnResponse {
  static constexpr MessageType kType{24, 0, 3, 3};
  struct Result {
    struct ResultsByPartition {
      std::int32_t partition_index = 0;
      std::int16_t partition_error_code = 0;

      template <class F>
      void fields(F& f) {
        f(partition_index);
        f(partition_error_code);
      }
      friend bool operator==(const ResultsByPartition&, const ResultsByPartition&) = default;
    };

    std::string name;
    std::vector<ResultsByPartition> results_by_partition;

    template <class F>
    void fields(F& f) {
      f(name);
      f(results_by_partition);
    }
    friend bool operator==(const Result&, const Result&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Result> results;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(results);
  }
  friend bool operator==(const AddPartitionsToTxnResponse&, const AddPartitionsToTxnResponse&) = default;
};

struct AddOffsetsToTxnRequest {
  static constexpr MessageType kType{25, 0, 4, 3};
  std::string transactional_id;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  std::string group_id;

  template <class F>
  void fields(F& f) {
    f(transactional_id);
    f(producer_id);
    f(producer_epoch);
    f(group_id);
  }
  friend bool operator==(const AddOffsetsToTxnRequest&, const AddOffsetsToTxnRequest&) = default;
};

struct AddOffsetsToTxnResponse {
  static constexpr MessageType kType{25, 0, 4, 3};
  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(error_code);
  }
  friend bool operator==(const AddOffsetsToTxnResponse&, const AddOffsetsToTxnResponse&) = default;
};

struct EndTxnRequest {
  static constexpr MessageType kType{26, 0, 5, 3};
  std::string transactional_id;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  bool committed = false;

  template <class F>
  void fields(F& f) {
    f(transactional_id);
    f(producer_id);
    f(producer_epoch);
    f(committed);
  }
  friend bool operator==(const EndTxnRequest&, const EndTxnRequest&) = default;
};

struct EndTxnResponse {
  static constexpr MessageType kType{26, 0, 5, 3};
  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(error_code);
    f(producer_id, Versions{5});
    f(producer_epoch, Versions{5});
  }
  friend bool operator==(const EndTxnResponse&, const EndTxnResponse&) = default;
};

struct TxnOffsetCommitRequest {
  static constexpr MessageType kType{28, 0, 6, 3};
  struct Topic {
    struct Partition {
      std::int32_t partition_index = 0;
      std::int64_t committed_offset = 0;
      std::int32_t committed_leader_epoch = -1;
      std::optional<std::string> committed_metadata;

      template <class F>
      void fields(F& f) {
        f(partition_index);
        f(committed_offset);
        f(committed_leader_epoch, Versions{2});
        f(committed_metadata);
      }
      friend bool operator==(const Partition&, const Partition&) = default;
    };

    Uuid topic_id;
    std::string name;
    std::vector<Partition> partitions;

    template <class F>
    void fields(F& f) {
      f(topic_id, Versions{6});
      f(name, Versions{0, 5});
      f(partitions);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::string transactional_id;
  std::string group_id;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  std::int32_t generation_id_or_member_epoch = -1;
  std::string member_id;
  std::optional<std::string> group_instance_id;
  std::vector<Topic> topics;

  template <class F>
  void fields(F& f) {
    f(transactional_id);
    f(group_id);
    f(producer_id);
    f(producer_epoch);
    f(generation_id_or_member_epoch, Versions{3});
    f(member_id, Versions{3});
    f(group_instance_id, Versions{3});
    f(topics);
  }
  friend bool operator==(const TxnOffsetCommitRequest&, const TxnOffsetCommitRequest&) = default;
};

struct TxnOffsetCommitResponse {
  static constexpr MessageType kType{28, 0, 6, 3};
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

    Uuid topic_id;
    std::string name;
    std::vector<Partition> partitions;

    template <class F>
    void fields(F& f) {
      f(topic_id, Versions{6});
      f(name, Versions{0, 5});
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
  friend bool operator==(const TxnOffsetCommitResponse&, const TxnOffsetCommitResponse&) = default;
};

}  // namespace tk::kafka
