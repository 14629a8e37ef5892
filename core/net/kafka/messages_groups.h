// Groups of both protocols, and their offsets.
//
// Each message is described once (serve.md §1.6): its members, and fields() that lists them in the order of
// the wire with the versions that have them. The names are those of Kafka's message definitions.
#pragma once

#include "core/net/kafka/codec.h"

namespace tk::kafka {

struct FindCoordinatorRequest {
  static constexpr MessageType kType{10, 0, 6, 3};
  std::string key;
  std::int8_t key_type = 0;
  std::vector<std::string> coordinator_keys;

  template <class F>
  void fields(F& f) {
    f(key, Versions{0, 3});
    f(key_type, Versions{1});
    f(coordinator_keys, Versions{4});
  }
  friend bool operator==(const FindCoordinatorRequest&, const FindCoordinatorRequest&) = default;
};

struct FindCoordinatorResponse {
  static constexpr MessageType kType{10, 0, 6, 3};
  struct Coordinator {
    std::string key;
    std::int32_t node_id = -1;
    std::string host;
    std::int32_t port = 0;
    std::int16_t error_code = 0;
    std::optional<std::string> error_message;

    template <class F>
    void fields(F& f) {
      f(key);
      f(node_id);
      f(host);
      f(port);
      f(error_code);
      f(error_message);
    }
    friend bool operator==(const Coordinator&, const Coordinator&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Coordinator> coordinators;
  std::int16_t error_code = 0;
  std::optional<std::string> error_message;
  std::int32_t node_id = -1;
  std::string host;
  std::int32_t port = 0;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms, Versions{1});
    f(coordinators, Versions{4});
    f(error_code, Versions{0, 3});
    f(error_message, Versions{1, 3});
    f(node_id, Versions{0, 3});
    f(host, Versions{0, 3});
    f(port, Versions{0, 3});
  }
  friend bool operator==(const FindCoordinatorResponse&, const FindCoordinatorResponse&) = default;
};

struct JoinGroupRequest {
  static constexpr MessageType kType{11, 0, 9, 6};
  struct Protocol {
    std::string name;
    Bytes metadata;

    template <class F>
    void fields(F& f) {
      f(name);
      f(metadata);
    }
    friend bool operator==(const Protocol&, const Protocol&) = default;
  };

  std::string group_id;
  std::int32_t session_timeout_ms = 0;
  std::int32_t rebalance_timeout_ms = -1;
  std::string member_id;
  std::optional<std::string> group_instance_id;
  std::string protocol_type;
  std::vector<Protocol> protocols;
  std::optional<std::string> reason;

  template <class F>
  void fields(F& f) {
    f(group_id);
    f(session_timeout_ms);
    f(rebalance_timeout_ms, Versions{1});
    f(member_id);
    f(group_instance_id, Versions{5});
    f(protocol_type);
    f(protocols);
    f(reason, Versions{8});
  }
  friend bool operator==(const JoinGroupRequest&, const JoinGroupRequest&) = default;
};

struct JoinGroupResponse {
  static constexpr MessageType kType{11, 0, 9, 6};
  struct Member {
    std::string member_id;
    std::optional<std::string> group_instance_id;
    Bytes metadata;

    template <class F>
    void fields(F& f) {
      f(member_id);
      f(group_instance_id, Versions{5});
      f(metadata);
    }
    friend bool operator==(const Member&, const Member&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::int32_t generation_id = -1;
  std::optional<std::string> protocol_type;
  std::optional<std::string> protocol_name;
  std::string leader;
  bool skip_assignment = false;
  std::string member_id;
  std::vector<Member> members;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms, Versions{2});
    f(error_code);
    f(generation_id);
    f(protocol_type, Versions{7});
    f(protocol_name, Versions{}, nullable_from(7));
    f(leader);
    f(skip_assignment, Versions{9});
    f(member_id);
    f(members);
  }
  friend bool operator==(const JoinGroupResponse&, const JoinGroupResponse&) = default;
};

struct SyncGroupRequest {
  static constexpr MessageType kType{14, 0, 5, 4};
  struct Assignment {
    std::string member_id;
    Bytes assignment;

    template <class F>
    void fields(F& f) {
      f(member_id);
      f(assignment);
    }
    friend bool operator==(const Assignment&, const Assignment&) = default;
  };

  std::string group_id;
  std::int32_t generation_id = -1;
  std::string member_id;
  std::optional<std::string> group_instance_id;
  std::optional<std::string> protocol_type;
  std::optional<std::string> protocol_name;
  std::vector<Assignment> assignments;

  template <class F>
  void fields(F& f) {
    f(group_id);
    f(generation_id);
    f(member_id);
    f(group_instance_id, Versions{3});
    f(protocol_type, Versions{5});
    f(protocol_name, Versions{5});
    f(assignments);
  }
  friend bool operator==(const SyncGroupRequest&, const SyncGroupRequest&) = default;
};

struct SyncGroupResponse {
  static constexpr MessageType kType{14, 0, 5, 4};
  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::optional<std::string> protocol_type;
  std::optional<std::string> protocol_name;
  Bytes assignment;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms, Versions{1});
    f(error_code);
    f(protocol_type, Versions{5});
    f(protocol_name, Versions{5});
    f(assignment);
  }
  friend bool operator==(const SyncGroupResponse&, const SyncGroupResponse&) = default;
};

struct HeartbeatRequest {
  static constexpr MessageType kType{12, 0, 4, 4};
  std::string group_id;
  std::int32_t generation_id = -1;
  std::string member_id;
  std::optional<std::string> group_instance_id;

  template <class F>
  void fields(F& f) {
    f(group_id);
    f(generation_id);
    f(member_id);
    f(group_instance_id, Versions{3});
  }
  friend bool operator==(const HeartbeatRequest&, const HeartbeatRequest&) = default;
};

struct HeartbeatResponse {
  static constexpr MessageType kType{12, 0, 4, 4};
  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms, Versions{1});
    f(error_code);
  }
  friend bool operator==(const HeartbeatResponse&, const HeartbeatResponse&) = default;
};

struct LeaveGroupRequest {
  static constexpr MessageType kType{13, 0, 5, 4};
  struct Member {
    std::string member_id;
    std::optional<std::string> group_instance_id;
    std::optional<std::string> reason;

    template <class F>
    void fields(F& f) {
      f(member_id);
      f(group_instance_id);
      f(reason, Versions{5});
    }
    friend bool operator==(const Member&, const Member&) = default;
  };

  std::string group_id;
  std::vector<Member> members;
  std::string member_id;

  template <class F>
  void fields(F& f) {
    f(group_id);
    f(members, Versions{3});
    f(member_id, Versions{0, 2});
  }
  friend bool operator==(const LeaveGroupRequest&, const LeaveGroupRequest&) = default;
};

struct LeaveGroupResponse {
  static constexpr MessageType kType{13, 0, 5, 4};
  struct Member {
    std::string member_id;
    std::optional<std::string> group_instance_id;
    std::int16_t error_code = 0;

    template <class F>
    void fields(F& f) {
      f(member_id);
      f(group_instance_id);
      f(error_code);
    }
    friend bool operator==(const Member&, const Member&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::vector<Member> members;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms, Versions{1});
    f(error_code);
    f(members, Versions{3});
  }
  friend bool operator==(const LeaveGroupResponse&, const LeaveGroupResponse&) = default;
};

struct OffsetCommitRequest {
  static constexpr MessageType kType{8, 2, 10, 8};
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
        f(committed_leader_epoch, Versions{6});
        f(committed_metadata);
      }
      friend bool operator==(const Partition&, const Partition&) = default;
    };

    Uuid topic_id;
    std::string name;
    std::vector<Partition> partitions;

    template <class F>
    void fields(F& f) {
      f(topic_id, Versions{10});
      f(name, Versions{2, 9});
      f(partitions);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::string group_id;
  std::int32_t generation_id_or_member_epoch = -1;
  std::string member_id;
  std::optional<std::string> group_instance_id;
  std::int64_t retention_time_ms = -1;
  std::vector<Topic> topics;

  template <class F>
  void fields(F& f) {
    f(group_id);
    f(generation_id_or_member_epoch);
    f(member_id);
    f(group_instance_id, Versions{7});
    f(retention_time_ms, Versions{2, 4});
    f(topics);
  }
  friend bool operator==(const OffsetCommitRequest&, const OffsetCommitRequest&) = default;
};

struct OffsetCommitResponse {
  static constexpr MessageType kType{8, 2, 10, 8};
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
      f(topic_id, Versions{10});
      f(name, Versions{2, 9});
      f(partitions);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Topic> topics;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms, Versions{3});
    f(topics);
  }
  friend bool operator==(const OffsetCommitResponse&, const OffsetCommitResponse&) = default;
};

struct OffsetFetchRequest {
  static constexpr MessageType kType{9, 1, 10, 6};
  struct Group {
    struct Topic {
      Uuid topic_id;
      std::string name;
      std::vector<std::int32_t> partition_indexes;

      template <class F>
      void fields(F& f) {
        f(topic_id, Versions{10});
        f(name, Versions{8, 9});
        f(partition_indexes);
      }
      friend bool operator==(const Topic&, const Topic&) = default;
    };

    std::string group_id;
    std::optional<std::string> member_id;
    std::int32_t member_epoch = -1;
    std::optional<std::vector<Topic>> topics;

    template <class F>
    void fields(F& f) {
      f(group_id);
      f(member_id, Versions{9});
      f(member_epoch, Versions{9});
      f(topics);
    }
    friend bool operator==(const Group&, const Group&) = default;
  };
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

  std::vector<Group> groups;
  std::string group_id;
  std::optional<std::vector<Topic>> topics;
  bool require_stable = false;

  template <class F>
  void fields(F& f) {
    f(groups, Versions{8});
    f(group_id, Versions{1, 7});
    f(topics, Versions{1, 7}, nullable_from(2));
    f(require_stable, Versions{7});
  }
  friend bool operator==(const OffsetFetchRequest&, const OffsetFetchRequest&) = default;
};

struct OffsetFetchResponse {
  static constexpr MessageType kType{9, 1, 10, 6};
  struct Group {
    struct Topic {
      struct Partition {
        std::int32_t partition_index = 0;
        std::int64_t committed_offset = 0;
        std::int32_t committed_leader_epoch = -1;
        std::optional<std::string> metadata;
        std::int16_t error_code = 0;

        template <class F>
        void fields(F& f) {
          f(partition_index);
          f(committed_offset);
          f(committed_leader_epoch);
          f(metadata);
          f(error_code);
        }
        friend bool operator==(const Partition&, const Partition&) = default;
      };

      Uuid topic_id;
      std::string name;
      std::vector<Partition> partitions;

      template <class F>
      void fields(F& f) {
        f(topic_id, Versions{10});
        f(name, Versions{8, 9});
        f(partitions);
      }
      friend bool operator==(const Topic&, const Topic&) = default;
    };

    std::string group_id;
    std::vector<Topic> topics;
    std::int16_t error_code = 0;

    template <class F>
    void fields(F& f) {
      f(group_id);
      f(topics);
      f(error_code);
    }
    friend bool operator==(const Group&, const Group&) = default;
  };
  struct Topic {
    struct Partition {
      std::int32_t partition_index = 0;
      std::int64_t committed_offset = 0;
      std::int32_t committed_leader_epoch = -1;
      std::optional<std::string> metadata;
      std::int16_t error_code = 0;

      template <class F>
      void fields(F& f) {
        f(partition_index);
        f(committed_offset);
        f(committed_leader_epoch, Versions{5});
        f(metadata);
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

  std::int32_t throttle_time_ms = 0;
  std::vector<Group> groups;
  std::vector<Topic> topics;
  std::int16_t error_code = 0;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms, Versions{3});
    f(groups, Versions{8});
    f(topics, Versions{1, 7});
    f(error_code, Versions{2, 7});
  }
  friend bool operator==(const OffsetFetchResponse&, const OffsetFetchResponse&) = default;
};

struct DescribeGroupsRequest {
  static constexpr MessageType kType{15, 0, 6, 5};
  std::vector<std::string> groups;
  bool include_authorized_operations = false;

  template <class F>
  void fields(F& f) {
    f(groups);
    f(include_authorized_operations, Versions{3});
  }
  friend bool operator==(const DescribeGroupsRequest&, const DescribeGroupsRequest&) = default;
};

struct DescribeGroupsResponse {
  static constexpr MessageType kType{15, 0, 6, 5};
  struct Group {
    struct Member {
      std::string member_id;
      std::optional<std::string> group_instance_id;
      std::string client_id;
      std::string client_host;
      Bytes member_metadata;
      Bytes member_assignment;

      template <class F>
      void fields(F& f) {
        f(member_id);
        f(group_instance_id, Versions{4});
        f(client_id);
        f(client_host);
        f(member_metadata);
        f(member_assignment);
      }
      friend bool operator==(const Member&, const Member&) = default;
    };

    std::int16_t error_code = 0;
    std::optional<std::string> error_message;
    std::string group_id;
    std::string group_state;
    std::string protocol_type;
    std::string protocol_data;
    std::vector<Member> members;
    std::int32_t authorized_operations = INT32_MIN;

    template <class F>
    void fields(F& f) {
      f(error_code);
      f(error_message, Versions{6});
      f(group_id);
      f(group_state);
      f(protocol_type);
      f(protocol_data);
      f(members);
      f(authorized_operations, Versions{3});
    }
    friend bool operator==(const Group&, const Group&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Group> groups;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms, Versions{1});
    f(groups);
  }
  friend bool operator==(const DescribeGroupsResponse&, const DescribeGroupsResponse&) = default;
};

struct ListGroupsRequest {
  static constexpr MessageType kType{16, 0, 5, 3};
  std::vector<std::string> states_filter;
  std::vector<std::string> types_filter;

  template <class F>
  void fields(F& f) {
    f(states_filter, Versions{4});
    f(types_filter, Versions{5});
  }
  friend bool operator==(const ListGroupsRequest&, const ListGroupsRequest&) = default;
};

struct ListGroupsResponse {
  static constexpr MessageType kType{16, 0, 5, 3};
  struct Group {
    std::string group_id;
    std::string protocol_type;
    std::string group_state;
    std::string group_type;

    template <class F>
    void fields(F& f) {
      f(group_id);
      f(protocol_type);
      f(group_state, Versions{4});
      f(group_type, Versions{5});
    }
    friend bool operator==(const Group&, const Group&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::vector<Group> groups;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms, Versions{1});
    f(error_code);
    f(groups);
  }
  friend bool operator==(const ListGroupsResponse&, const ListGroupsResponse&) = default;
};

struct DeleteGroupsRequest {
  static constexpr MessageType kType{42, 0, 3, 2};
  std::vector<std::string> groups_names;

  template <class F>
  void fields(F& f) {
    f(groups_names);
  }
  friend bool operator==(const DeleteGroupsRequest&, const DeleteGroupsRequest&) = default;
};

struct DeleteGroupsResponse {
  static constexpr MessageType kType{42, 0, 3, 2};
  struct Result {
    std::string group_id;
    std::int16_t error_code = 0;
    std::optional<std::string> error_message;

    template <class F>
    void fields(F& f) {
      f(group_id);
      f(error_code);
      f(error_message, Versions{3});
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
  friend bool operator==(const DeleteGroupsResponse&, const DeleteGroupsResponse&) = default;
};

struct OffsetDeleteRequest {
  static constexpr MessageType kType{47, 0, 0, 32767};
  struct Topic {
    struct Partition {
      std::int32_t partition_index = 0;

      template <class F>
      void fields(F& f) {
        f(partition_index);
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

  std::string group_id;
  std::vector<Topic> topics;

  template <class F>
  void fields(F& f) {
    f(group_id);
    f(topics);
  }
  friend bool operator==(const OffsetDeleteRequest&, const OffsetDeleteRequest&) = default;
};

struct OffsetDeleteResponse {
  static constexpr MessageType kType{47, 0, 0, 32767};
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

  std::int16_t error_code = 0;
  std::int32_t throttle_time_ms = 0;
  std::vector<Topic> topics;

  template <class F>
  void fields(F& f) {
    f(error_code);
    f(throttle_time_ms);
    f(topics);
  }
  friend bool operator==(const OffsetDeleteResponse&, const OffsetDeleteResponse&) = default;
};

struct ConsumerGroupHeartbeatRequest {
  static constexpr MessageType kType{68, 0, 1, 0};
  struct TopicPartition {
    Uuid topic_id;
    std::vector<std::int32_t> partitions;

    template <class F>
    void fields(F& f) {
      f(topic_id);
      f(partitions);
    }
    friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
  };

  std::string group_id;
  std::string member_id;
  std::int32_t member_epoch = -1;
  std::optional<std::string> instance_id;
  std::optional<std::string> rack_id;
  std::int32_t rebalance_timeout_ms = -1;
  std::optional<std::vector<std::string>> subscribed_topic_names;
  std::optional<std::string> subscribed_topic_regex;
  std::optional<std::string> server_assignor;
  std::optional<std::vector<TopicPartition>> topic_partitions;

  template <class F>
  void fields(F& f) {
    f(group_id);
    f(member_id);
    f(member_epoch);
    f(instance_id);
    f(rack_id);
    f(rebalance_timeout_ms);
    f(subscribed_topic_names);
    f(subscribed_topic_regex, Versions{1});
    f(server_assignor);
    f(topic_partitions);
  }
  friend bool operator==(const ConsumerGroupHeartbeatRequest&,
                         const ConsumerGroupHeartbeatRequest&) = default;
};

struct ConsumerGroupHeartbeatResponse {
  static constexpr MessageType kType{68, 0, 1, 0};
  struct Assignment {
    struct TopicPartition {
      Uuid topic_id;
      std::vector<std::int32_t> partitions;

      template <class F>
      void fields(F& f) {
        f(topic_id);
        f(partitions);
      }
      friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
    };

    std::vector<TopicPartition> topic_partitions;

    template <class F>
    void fields(F& f) {
      f(topic_partitions);
    }
    friend bool operator==(const Assignment&, const Assignment&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::optional<std::string> error_message;
  std::optional<std::string> member_id;
  std::int32_t member_epoch = -1;
  std::int32_t heartbeat_interval_ms = 0;
  std::optional<Assignment> assignment;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(error_code);
    f(error_message);
    f(member_id);
    f(member_epoch);
    f(heartbeat_interval_ms);
    f(assignment);
  }
  friend bool operator==(const ConsumerGroupHeartbeatResponse&,
                         const ConsumerGroupHeartbeatResponse&) = default;
};

struct ConsumerGroupDescribeRequest {
  static constexpr MessageType kType{69, 0, 1, 0};
  std::vector<std::string> group_ids;
  bool include_authorized_operations = false;

  template <class F>
  void fields(F& f) {
    f(group_ids);
    f(include_authorized_operations);
  }
  friend bool operator==(const ConsumerGroupDescribeRequest&, const ConsumerGroupDescribeRequest&) = default;
};

struct ConsumerGroupDescribeResponse {
  static constexpr MessageType kType{69, 0, 1, 0};
  struct Group {
    struct Member {
      struct Assignment {
        struct TopicPartition {
          Uuid topic_id;
          std::string topic_name;
          std::vector<std::int32_t> partitions;

          template <class F>
          void fields(F& f) {
            f(topic_id);
            f(topic_name);
            f(partitions);
          }
          friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
        };

        std::vector<TopicPartition> topic_partitions;

        template <class F>
        void fields(F& f) {
          f(topic_partitions);
        }
        friend bool operator==(const Assignment&, const Assignment&) = default;
      };
      struct TargetAssignment {
        struct TopicPartition {
          Uuid topic_id;
          std::string topic_name;
          std::vector<std::int32_t> partitions;

          template <class F>
          void fields(F& f) {
            f(topic_id);
            f(topic_name);
            f(partitions);
          }
          friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
        };

        std::vector<TopicPartition> topic_partitions;

        template <class F>
        void fields(F& f) {
          f(topic_partitions);
        }
        friend bool operator==(const TargetAssignment&, const TargetAssignment&) = default;
      };

      std::string member_id;
      std::optional<std::string> instance_id;
      std::optional<std::string> rack_id;
      std::int32_t member_epoch = -1;
      std::string client_id;
      std::string client_host;
      std::vector<std::string> subscribed_topic_names;
      std::optional<std::string> subscribed_topic_regex;
      Assignment assignment;
      TargetAssignment target_assignment;
      std::int8_t member_type = 0;

      template <class F>
      void fields(F& f) {
        f(member_id);
        f(instance_id);
        f(rack_id);
        f(member_epoch);
        f(client_id);
        f(client_host);
        f(subscribed_topic_names);
        f(subscribed_topic_regex);
        f(assignment);
        f(target_assignment);
        f(member_type, Versions{1});
      }
      friend bool operator==(const Member&, const Member&) = default;
    };

    std::int16_t error_code = 0;
    std::optional<std::string> error_message;
    std::string group_id;
    std::string group_state;
    std::int32_t group_epoch = 0;
    std::int32_t assignment_epoch = 0;
    std::string assignor_name;
    std::vector<Member> members;
    std::int32_t authorized_operations = INT32_MIN;

    template <class F>
    void fields(F& f) {
      f(error_code);
      f(error_message);
      f(group_id);
      f(group_state);
      f(group_epoch);
      f(assignment_epoch);
      f(assignor_name);
      f(members);
      f(authorized_operations);
    }
    friend bool operator==(const Group&, const Group&) = default;
  };

  std::int32_t throttle_time_ms = 0;
  std::vector<Group> groups;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(groups);
  }
  friend bool operator==(const ConsumerGroupDescribeResponse&,
                         const ConsumerGroupDescribeResponse&) = default;
};

}  // namespace tk::kafka
