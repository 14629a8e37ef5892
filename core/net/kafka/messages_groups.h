// Members of groups of both protocols: FindCoordinator, Join-, Sync- and LeaveGroup, Heartbeats.
//
// Each message is described once (serve.md §1.6): its members, and fields() that lists them in the order of
// the wire with the versions that have them. The names are those of Kafka's message definitions.
#pragma once

#include "core/net/kafka/codec.h"
#include "core/net/kafka/messages_shared.h"

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

struct ConsumerGroupHeartbeatRequest {
  static constexpr MessageType kType{68, 0, 1, 0};
  std::string group_id;
  std::string member_id;
  std::int32_t member_epoch = -1;
  std::optional<std::string> instance_id;
  std::optional<std::string> rack_id;
  std::int32_t rebalance_timeout_ms = -1;
  std::optional<std::vector<std::string>> subscribed_topic_names;
  std::optional<std::string> subscribed_topic_regex;
  std::optional<std::string> server_assignor;
  std::optional<std::vector<PartitionsById>> topic_partitions;

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
  std::int32_t throttle_time_ms = 0;
  std::int16_t error_code = 0;
  std::optional<std::string> error_message;
  std::optional<std::string> member_id;
  std::int32_t member_epoch = -1;
  std::int32_t heartbeat_interval_ms = 0;
  std::optional<MemberAssignment<PartitionsById>> assignment;

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

}  // namespace tk::kafka
