// The offsets of groups: OffsetCommit, OffsetFetch, OffsetDelete.
//
// Each message is described once (serve.md §1.6): its members, and fields() that lists them in the order of
// the wire with the versions that have them. The names are those of Kafka's message definitions.
#pragma once

#include "core/net/kafka/codec.h"

namespace tk::kafka {

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

}  // namespace tk::kafka
