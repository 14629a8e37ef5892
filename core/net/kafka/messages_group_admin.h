// What groups there are: ListGroups, DescribeGroups, ConsumerGroupDescribe, DeleteGroups.
//
// Each message is described once (serve.md §1.6): its members, and fields() that lists them in the order of
// the wire with the versions that have them. The names are those of Kafka's message definitions.
#pragma once

#include "core/net/kafka/codec.h"
#include "core/net/kafka/messages_shared.h"

namespace tk::kafka {

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
      using Assignment = MemberAssignment<NamedPartitionsById>;

      std::string member_id;
      std::optional<std::string> instance_id;
      std::optional<std::string> rack_id;
      std::int32_t member_epoch = -1;
      std::string client_id;
      std::string client_host;
      std::vector<std::string> subscribed_topic_names;
      std::optional<std::string> subscribed_topic_regex;
      Assignment assignment;
      Assignment target_assignment;
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
