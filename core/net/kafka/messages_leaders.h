// Who leads: ElectLeaders, ListPartitionReassignments.
//
// Each message is described once (serve.md §1.6): its members, and fields() that lists them in the order of
// the wire with the versions that have them. The names are those of Kafka's message definitions.
#pragma once

#include "core/net/kafka/codec.h"

namespace tk::kafka {

struct ElectLeadersRequest {
  static constexpr MessageType kType{43, 0, 2, 2};
  struct TopicPartition {
    std::string topic;
    std::vector<std::int32_t> partitions;

    template <class F>
    void fields(F& f) {
      f(topic);
      f(partitions);
    }
    friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
  };

  std::int8_t election_type = 0;
  std::optional<std::vector<TopicPartition>> topic_partitions;
  std::int32_t timeout_ms = 0;

  template <class F>
  void fields(F& f) {
    f(election_type, Versions{1});
    f(topic_partitions);
    f(timeout_ms);
  }
  friend bool operator==(const ElectLeadersRequest&, const ElectLeadersRequest&) = default;
};

struct ElectLeadersResponse {
  static constexpr MessageType kType{43, 0, 2, 2};
  struct ReplicaElectionResult {
    struct PartitionResult {
      std::int32_t partition_id = 0;
      std::int16_t error_code = 0;
      std::optional<std::string> error_message;

      template <class F>
      void fields(F& f) {
        f(partition_id);
        f(error_code);
        f(error_message);
      }
      friend bool operator==(const PartitionResult&, const PartitionResult&) = default;
    };

    std::string topic;
    std::vector<PartitionResult> partition_result;

    template <class F>
    void fields(F& f) {
      f(topic);
      f(partition_result);
    }
    friend bool operator==(const ReplicaElectionResult&, const ReplicaElectionResult&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::vector<ReplicaElectionResult> replica_election_results;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(error_code, Versions{1});
    f(replica_election_results);
  }
  friend bool operator==(const ElectLeadersResponse&, const ElectLeadersResponse&) = default;
};

struct ListPartitionReassignmentsRequest {
  static constexpr MessageType kType{46, 0, 0, 0};
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

  std::int32_t timeout_ms = 0;
  std::optional<std::vector<Topic>> topics;

  template <class F>
  void fields(F& f) {
    f(timeout_ms);
    f(topics);
  }
  friend bool operator==(const ListPartitionReassignmentsRequest&,
                         const ListPartitionReassignmentsRequest&) = default;
};

struct ListPartitionReassignmentsResponse {
  static constexpr MessageType kType{46, 0, 0, 0};
  struct Topic {
    struct Partition {
      std::int32_t partition_index = 0;
      std::vector<std::int32_t> replicas;
      std::vector<std::int32_t> adding_replicas;
      std::vector<std::int32_t> removing_replicas;

      template <class F>
      void fields(F& f) {
        f(partition_index);
        f(replicas);
        f(adding_replicas);
        f(removing_replicas);
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
  std::int16_t error_code = 0;
  std::optional<std::string> error_message;
  std::vector<Topic> topics;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(error_code);
    f(error_message);
    f(topics);
  }
  friend bool operator==(const ListPartitionReassignmentsResponse&,
                         const ListPartitionReassignmentsResponse&) = default;
};

}  // namespace tk::kafka
