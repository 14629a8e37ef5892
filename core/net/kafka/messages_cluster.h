// What is there: ApiVersions, Metadata, DescribeCluster and the like.
//
// Each message is described once (serve.md §1.6): its members, and fields() that lists them in the order of
// the wire with the versions that have them. The names are those of Kafka's message definitions.
#pragma once

#include "core/net/kafka/codec.h"
#include "core/net/kafka/messages_shared.h"

namespace tk::kafka {

struct ApiVersionsRequest {
  static constexpr MessageType kType{18, 0, 5, 3};
  std::string client_software_name;
  std::string client_software_version;
  std::optional<std::string> cluster_id;
  std::int32_t node_id = -1;

  template <class F>
  void fields(F& f) {
    f(client_software_name, Versions{3});
    f(client_software_version, Versions{3});
    f(cluster_id, Versions{5});
    f(node_id, Versions{5});
  }
  friend bool operator==(const ApiVersionsRequest&, const ApiVersionsRequest&) = default;
};

struct ApiVersionsResponse {
  static constexpr MessageType kType{18, 0, 5, 3};
  struct ApiKey {
    std::int16_t api_key = 0;
    std::int16_t min_version = 0;
    std::int16_t max_version = 0;

    template <class F>
    void fields(F& f) {
      f(api_key);
      f(min_version);
      f(max_version);
    }
    friend bool operator==(const ApiKey&, const ApiKey&) = default;
  };
  struct SupportedFeature {
    std::string name;
    std::int16_t min_version = 0;
    std::int16_t max_version = 0;

    template <class F>
    void fields(F& f) {
      f(name);
      f(min_version);
      f(max_version);
    }
    friend bool operator==(const SupportedFeature&, const SupportedFeature&) = default;
  };
  struct FinalizedFeature {
    std::string name;
    std::int16_t max_version_level = 0;
    std::int16_t min_version_level = 0;

    template <class F>
    void fields(F& f) {
      f(name);
      f(max_version_level);
      f(min_version_level);
    }
    friend bool operator==(const FinalizedFeature&, const FinalizedFeature&) = default;
  };

  std::int16_t error_code = 0;
  std::vector<ApiKey> api_keys;
  std::int32_t throttle_time_ms = 0;
  std::vector<SupportedFeature> supported_features;
  std::int64_t finalized_features_epoch = -1;
  std::vector<FinalizedFeature> finalized_features;
  bool zk_migration_ready = false;

  template <class F>
  void fields(F& f) {
    f(error_code);
    f(api_keys);
    f(throttle_time_ms, Versions{1});
    f.tag(0, supported_features, std::vector<SupportedFeature>{}, Versions{3});
    f.tag(1, finalized_features_epoch, std::int64_t{-1}, Versions{3});
    f.tag(2, finalized_features, std::vector<FinalizedFeature>{}, Versions{3});
    f.tag(3, zk_migration_ready, bool{false}, Versions{3});
  }
  friend bool operator==(const ApiVersionsResponse&, const ApiVersionsResponse&) = default;
};

struct MetadataRequest {
  static constexpr MessageType kType{3, 0, 13, 9};
  struct Topic {
    Uuid topic_id;
    std::optional<std::string> name;

    template <class F>
    void fields(F& f) {
      f(topic_id, Versions{10});
      f(name, Versions{}, nullable_from(10));
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::optional<std::vector<Topic>> topics;
  bool allow_auto_topic_creation = true;
  bool include_cluster_authorized_operations = false;
  bool include_topic_authorized_operations = false;

  template <class F>
  void fields(F& f) {
    f(topics, Versions{}, nullable_from(1));
    f(allow_auto_topic_creation, Versions{4});
    f(include_cluster_authorized_operations, Versions{8, 10});
    f(include_topic_authorized_operations, Versions{8});
  }
  friend bool operator==(const MetadataRequest&, const MetadataRequest&) = default;
};

struct MetadataResponse {
  static constexpr MessageType kType{3, 0, 13, 9};
  struct Broker {
    std::int32_t node_id = -1;
    std::string host;
    std::int32_t port = 0;
    std::optional<std::string> rack;

    template <class F>
    void fields(F& f) {
      f(node_id);
      f(host);
      f(port);
      f(rack, Versions{1});
    }
    friend bool operator==(const Broker&, const Broker&) = default;
  };
  struct Topic {
    struct Partition {
      std::int16_t error_code = 0;
      std::int32_t partition_index = 0;
      std::int32_t leader_id = -1;
      std::int32_t leader_epoch = -1;
      std::vector<std::int32_t> replica_nodes;
      std::vector<std::int32_t> isr_nodes;
      std::vector<std::int32_t> offline_replicas;

      template <class F>
      void fields(F& f) {
        f(error_code);
        f(partition_index);
        f(leader_id);
        f(leader_epoch, Versions{7});
        f(replica_nodes);
        f(isr_nodes);
        f(offline_replicas, Versions{5});
      }
      friend bool operator==(const Partition&, const Partition&) = default;
    };

    std::int16_t error_code = 0;
    std::optional<std::string> name;
    Uuid topic_id;
    bool is_internal = false;
    std::vector<Partition> partitions;
    std::int32_t topic_authorized_operations = INT32_MIN;

    template <class F>
    void fields(F& f) {
      f(error_code);
      f(name, Versions{}, nullable_from(12));
      f(topic_id, Versions{10});
      f(is_internal, Versions{1});
      f(partitions);
      f(topic_authorized_operations, Versions{8});
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Broker> brokers;
  std::optional<std::string> cluster_id;
  std::int32_t controller_id = -1;
  std::vector<Topic> topics;
  std::int16_t error_code = 0;
  std::int32_t cluster_authorized_operations = INT32_MIN;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms, Versions{3});
    f(brokers);
    f(cluster_id, Versions{2});
    f(controller_id, Versions{1});
    f(topics);
    f(error_code, Versions{13});
    f(cluster_authorized_operations, Versions{8, 10});
  }
  friend bool operator==(const MetadataResponse&, const MetadataResponse&) = default;
};

struct DescribeClusterRequest {
  static constexpr MessageType kType{60, 0, 2, 0};
  bool include_cluster_authorized_operations = false;
  std::int8_t endpoint_type = 0;
  bool include_fenced_brokers = false;

  template <class F>
  void fields(F& f) {
    f(include_cluster_authorized_operations);
    f(endpoint_type, Versions{1});
    f(include_fenced_brokers, Versions{2});
  }
  friend bool operator==(const DescribeClusterRequest&, const DescribeClusterRequest&) = default;
};

struct DescribeClusterResponse {
  static constexpr MessageType kType{60, 0, 2, 0};
  struct Broker {
    std::int32_t broker_id = 0;
    std::string host;
    std::int32_t port = 0;
    std::optional<std::string> rack;
    bool is_fenced = false;

    template <class F>
    void fields(F& f) {
      f(broker_id);
      f(host);
      f(port);
      f(rack);
      f(is_fenced, Versions{2});
    }
    friend bool operator==(const Broker&, const Broker&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::optional<std::string> error_message;
  std::int8_t endpoint_type = 0;
  std::string cluster_id;
  std::int32_t controller_id = -1;
  std::vector<Broker> brokers;
  std::int32_t cluster_authorized_operations = INT32_MIN;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(error_code);
    f(error_message);
    f(endpoint_type, Versions{1});
    f(cluster_id);
    f(controller_id);
    f(brokers);
    f(cluster_authorized_operations);
  }
  friend bool operator==(const DescribeClusterResponse&, const DescribeClusterResponse&) = default;
};

struct DescribeTopicPartitionsRequest {
  static constexpr MessageType kType{75, 0, 0, 0};
  struct Topic {
    std::string name;

    template <class F>
    void fields(F& f) {
      f(name);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::vector<Topic> topics;
  std::int32_t response_partition_limit = 0;
  std::optional<PartitionCursor> cursor;

  template <class F>
  void fields(F& f) {
    f(topics);
    f(response_partition_limit);
    f(cursor);
  }
  friend bool operator==(const DescribeTopicPartitionsRequest&,
                         const DescribeTopicPartitionsRequest&) = default;
};

struct DescribeTopicPartitionsResponse {
  static constexpr MessageType kType{75, 0, 0, 0};
  struct Topic {
    struct Partition {
      std::int16_t error_code = 0;
      std::int32_t partition_index = 0;
      std::int32_t leader_id = -1;
      std::int32_t leader_epoch = -1;
      std::vector<std::int32_t> replica_nodes;
      std::vector<std::int32_t> isr_nodes;
      std::optional<std::vector<std::int32_t>> eligible_leader_replicas;
      std::optional<std::vector<std::int32_t>> last_known_elr;
      std::vector<std::int32_t> offline_replicas;

      template <class F>
      void fields(F& f) {
        f(error_code);
        f(partition_index);
        f(leader_id);
        f(leader_epoch);
        f(replica_nodes);
        f(isr_nodes);
        f(eligible_leader_replicas);
        f(last_known_elr);
        f(offline_replicas);
      }
      friend bool operator==(const Partition&, const Partition&) = default;
    };

    std::int16_t error_code = 0;
    std::optional<std::string> name;
    Uuid topic_id;
    bool is_internal = false;
    std::vector<Partition> partitions;
    std::int32_t topic_authorized_operations = INT32_MIN;

    template <class F>
    void fields(F& f) {
      f(error_code);
      f(name);
      f(topic_id);
      f(is_internal);
      f(partitions);
      f(topic_authorized_operations);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Topic> topics;
  std::optional<PartitionCursor> next_cursor;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(topics);
    f(next_cursor);
  }
  friend bool operator==(const DescribeTopicPartitionsResponse&,
                         const DescribeTopicPartitionsResponse&) = default;
};

struct DescribeLogDirsRequest {
  static constexpr MessageType kType{35, 1, 5, 2};
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

  std::optional<std::vector<Topic>> topics;

  template <class F>
  void fields(F& f) {
    f(topics);
  }
  friend bool operator==(const DescribeLogDirsRequest&, const DescribeLogDirsRequest&) = default;
};

struct DescribeLogDirsResponse {
  static constexpr MessageType kType{35, 1, 5, 2};
  struct Result {
    struct Topic {
      struct Partition {
        std::int32_t partition_index = 0;
        std::int64_t partition_size = 0;
        std::int64_t offset_lag = 0;
        bool is_future_key = false;

        template <class F>
        void fields(F& f) {
          f(partition_index);
          f(partition_size);
          f(offset_lag);
          f(is_future_key);
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

    std::int16_t error_code = 0;
    std::string log_dir;
    std::vector<Topic> topics;
    std::int64_t total_bytes = 0;
    std::int64_t usable_bytes = 0;
    bool is_cordoned = false;

    template <class F>
    void fields(F& f) {
      f(error_code);
      f(log_dir);
      f(topics);
      f(total_bytes, Versions{4});
      f(usable_bytes, Versions{4});
      f(is_cordoned, Versions{5});
    }
    friend bool operator==(const Result&, const Result&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::vector<Result> results;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(error_code, Versions{3});
    f(results);
  }
  friend bool operator==(const DescribeLogDirsResponse&, const DescribeLogDirsResponse&) = default;
};

}  // namespace tk::kafka
