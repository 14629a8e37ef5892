// Records out: Fetch.
//
// Each message is described once (serve.md §1.6): its members, and fields() that lists them in the order of
// the wire with the versions that have them. The names are those of Kafka's message definitions.
#pragma once

#include "core/net/kafka/codec.h"

namespace tk::kafka {

struct FetchRequest {
  static constexpr MessageType kType{1, 4, 18, 12};
  struct Topic {
    struct Partition {
      std::int32_t partition = 0;
      std::int32_t current_leader_epoch = -1;
      std::int64_t fetch_offset = 0;
      std::int32_t last_fetched_epoch = -1;
      std::int64_t log_start_offset = -1;
      std::int32_t partition_max_bytes = 0;
      Uuid replica_directory_id;
      std::int64_t high_watermark = INT64_MAX;

      template <class F>
      void fields(F& f) {
        f(partition);
        f(current_leader_epoch, Versions{9});
        f(fetch_offset);
        f(last_fetched_epoch, Versions{12});
        f(log_start_offset, Versions{5});
        f(partition_max_bytes);
        f.tag(0, replica_directory_id, Uuid{}, Versions{17});
        f.tag(1, high_watermark, std::int64_t{INT64_MAX}, Versions{18});
      }
      friend bool operator==(const Partition&, const Partition&) = default;
    };

    Uuid topic_id;
    std::string topic;
    std::vector<Partition> partitions;

    template <class F>
    void fields(F& f) {
      f(topic_id, Versions{13});
      f(topic, Versions{4, 12});
      f(partitions);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };
  struct ForgottenTopicsData {
    Uuid topic_id;
    std::string topic;
    std::vector<std::int32_t> partitions;

    template <class F>
    void fields(F& f) {
      f(topic_id, Versions{13});
      f(topic, Versions{7, 12});
      f(partitions);
    }
    friend bool operator==(const ForgottenTopicsData&, const ForgottenTopicsData&) = default;
  };
  struct ReplicaState {
    std::int32_t replica_id = -1;
    std::int64_t replica_epoch = -1;

    template <class F>
    void fields(F& f) {
      f(replica_id);
      f(replica_epoch);
    }
    friend bool operator==(const ReplicaState&, const ReplicaState&) = default;
  };

  std::int32_t replica_id = -1;
  std::int32_t max_wait_ms = 0;
  std::int32_t min_bytes = 0;
  std::int32_t max_bytes = INT32_MAX;
  std::int8_t isolation_level = 0;
  std::int32_t session_id = 0;
  std::int32_t session_epoch = -1;
  std::vector<Topic> topics;
  std::vector<ForgottenTopicsData> forgotten_topics_data;
  std::string rack_id;
  std::optional<std::string> cluster_id;
  ReplicaState replica_state;

  template <class F>
  void fields(F& f) {
    f(replica_id, Versions{4, 14});
    f(max_wait_ms);
    f(min_bytes);
    f(max_bytes);
    f(isolation_level);
    f(session_id, Versions{7});
    f(session_epoch, Versions{7});
    f(topics);
    f(forgotten_topics_data, Versions{7});
    f(rack_id, Versions{11});
    f.tag(0, cluster_id, std::optional<std::string>{}, Versions{12});
    f.tag(1, replica_state, ReplicaState{}, Versions{15});
  }
  friend bool operator==(const FetchRequest&, const FetchRequest&) = default;
};

struct FetchResponse {
  static constexpr MessageType kType{1, 4, 18, 12};
  struct Response {
    struct Partition {
      struct AbortedTransaction {
        std::int64_t producer_id = -1;
        std::int64_t first_offset = 0;

        template <class F>
        void fields(F& f) {
          f(producer_id);
          f(first_offset);
        }
        friend bool operator==(const AbortedTransaction&, const AbortedTransaction&) = default;
      };
      struct DivergingEpoch {
        std::int32_t epoch = -1;
        std::int64_t end_offset = -1;

        template <class F>
        void fields(F& f) {
          f(epoch);
          f(end_offset);
        }
        friend bool operator==(const DivergingEpoch&, const DivergingEpoch&) = default;
      };
      struct CurrentLeader {
        std::int32_t leader_id = -1;
        std::int32_t leader_epoch = -1;

        template <class F>
        void fields(F& f) {
          f(leader_id);
          f(leader_epoch);
        }
        friend bool operator==(const CurrentLeader&, const CurrentLeader&) = default;
      };
      struct SnapshotId {
        std::int64_t end_offset = -1;
        std::int32_t epoch = -1;

        template <class F>
        void fields(F& f) {
          f(end_offset);
          f(epoch);
        }
        friend bool operator==(const SnapshotId&, const SnapshotId&) = default;
      };

      std::int32_t partition_index = 0;
      std::int16_t error_code = 0;
      std::int64_t high_watermark = 0;
      std::int64_t last_stable_offset = -1;
      std::int64_t log_start_offset = -1;
      std::optional<std::vector<AbortedTransaction>> aborted_transactions;
      std::int32_t preferred_read_replica = -1;
      Records records;
      DivergingEpoch diverging_epoch;
      CurrentLeader current_leader;
      SnapshotId snapshot_id;

      template <class F>
      void fields(F& f) {
        f(partition_index);
        f(error_code);
        f(high_watermark);
        f(last_stable_offset);
        f(log_start_offset, Versions{5});
        f(aborted_transactions);
        f(preferred_read_replica, Versions{11});
        f(records);
        f.tag(0, diverging_epoch, DivergingEpoch{}, Versions{12});
        f.tag(1, current_leader, CurrentLeader{}, Versions{12});
        f.tag(2, snapshot_id, SnapshotId{}, Versions{12});
      }
      friend bool operator==(const Partition&, const Partition&) = default;
    };

    Uuid topic_id;
    std::string topic;
    std::vector<Partition> partitions;

    template <class F>
    void fields(F& f) {
      f(topic_id, Versions{13});
      f(topic, Versions{4, 12});
      f(partitions);
    }
    friend bool operator==(const Response&, const Response&) = default;
  };
  struct NodeEndpoint {
    std::int32_t node_id = -1;
    std::string host;
    std::int32_t port = 0;
    std::optional<std::string> rack;

    template <class F>
    void fields(F& f) {
      f(node_id);
      f(host);
      f(port);
      f(rack);
    }
    friend bool operator==(const NodeEndpoint&, const NodeEndpoint&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::int32_t session_id = 0;
  std::vector<Response> responses;
  std::vector<NodeEndpoint> node_endpoints;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(error_code, Versions{7});
    f(session_id, Versions{7});
    f(responses);
    f.tag(0, node_endpoints, std::vector<NodeEndpoint>{}, Versions{16});
  }
  friend bool operator==(const FetchResponse&, const FetchResponse&) = default;
};

}  // namespace tk::kafka
