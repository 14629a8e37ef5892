// Where a log begins and ends: ListOffsets, OffsetForLeaderEpoch, DeleteRecords.
//
// Each message is described once (serve.md §1.6): its members, and fields() that lists them in the order of
// the wire with the versions that have them. The names are those of Kafka's message definitions.
#pragma once

#include "core/net/kafka/codec.h"

namespace tk::kafka {

struct ListOffsetsRequest {
  static constexpr MessageType kType{2, 1, 11, 6};
  struct Topic {
    struct Partition {
      std::int32_t partition_index = 0;
      std::int32_t current_leader_epoch = -1;
      std::int64_t timestamp = -1;

      template <class F>
      void fields(F& f) {
        f(partition_index);
        f(current_leader_epoch, Versions{4});
        f(timestamp);
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

  std::int32_t replica_id = -1;
  std::int8_t isolation_level = 0;
  std::vector<Topic> topics;
  std::int32_t timeout_ms = 0;

  template <class F>
  void fields(F& f) {
    f(replica_id);
    f(isolation_level, Versions{2});
    f(topics);
    f(timeout_ms, Versions{10});
  }
  friend bool operator==(const ListOffsetsRequest&, const ListOffsetsRequest&) = default;
};

struct ListOffsetsResponse {
  static constexpr MessageType kType{2, 1, 11, 6};
  struct Topic {
    struct Partition {
      std::int32_t partition_index = 0;
      std::int16_t error_code = 0;
      std::int64_t timestamp = -1;
      std::int64_t offset = -1;
      std::int32_t leader_epoch = -1;

      template <class F>
      void fields(F& f) {
        f(partition_index);
        f(error_code);
        f(timestamp);
        f(offset);
        f(leader_epoch, Versions{4});
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
    f(throttle_time_ms, Versions{2});
    f(topics);
  }
  friend bool operator==(const ListOffsetsResponse&, const ListOffsetsResponse&) = default;
};

struct OffsetForLeaderEpochRequest {
  static constexpr MessageType kType{23, 2, 4, 4};
  struct Topic {
    struct Partition {
      std::int32_t partition = 0;
      std::int32_t current_leader_epoch = -1;
      std::int32_t leader_epoch = -1;

      template <class F>
      void fields(F& f) {
        f(partition);
        f(current_leader_epoch);
        f(leader_epoch);
      }
      friend bool operator==(const Partition&, const Partition&) = default;
    };

    std::string topic;
    std::vector<Partition> partitions;

    template <class F>
    void fields(F& f) {
      f(topic);
      f(partitions);
    }
    friend bool operator==(const Topic&, const Topic&) = default;
  };

  std::int32_t replica_id = -1;
  std::vector<Topic> topics;

  template <class F>
  void fields(F& f) {
    f(replica_id, Versions{3});
    f(topics);
  }
  friend bool operator==(const OffsetForLeaderEpochRequest&, const OffsetForLeaderEpochRequest&) = default;
};

struct OffsetForLeaderEpochResponse {
  static constexpr MessageType kType{23, 2, 4, 4};
  struct Topic {
    struct Partition {
      std::int16_t error_code = 0;
      std::int32_t partition = 0;
      std::int32_t leader_epoch = -1;
      std::int64_t end_offset = -1;

      template <class F>
      void fields(F& f) {
        f(error_code);
        f(partition);
        f(leader_epoch);
        f(end_offset);
      }
      friend bool operator==(const Partition&, const Partition&) = default;
    };

    std::string topic;
    std::vector<Partition> partitions;

    template <class F>
    void fields(F& f) {
      f(topic);
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
  friend bool operator==(const OffsetForLeaderEpochResponse&, const OffsetForLeaderEpochResponse&) = default;
};

struct DeleteRecordsRequest {
  static constexpr MessageType kType{21, 0, 2, 2};
  struct Topic {
    struct Partition {
      std::int32_t partition_index = 0;
      std::int64_t offset = -1;

      template <class F>
      void fields(F& f) {
        f(partition_index);
        f(offset);
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

  std::vector<Topic> topics;
  std::int32_t timeout_ms = 0;

  template <class F>
  void fields(F& f) {
    f(topics);
    f(timeout_ms);
  }
  friend bool operator==(const DeleteRecordsRequest&, const DeleteRecordsRequest&) = default;
};

struct DeleteRecordsResponse {
  static constexpr MessageType kType{21, 0, 2, 2};
  struct Topic {
    struct Partition {
      std::int32_t partition_index = 0;
      std::int64_t low_watermark = 0;
      std::int16_t error_code = 0;

      template <class F>
      void fields(F& f) {
        f(partition_index);
        f(low_watermark);
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
  std::vector<Topic> topics;

  template <class F>
  void fields(F& f) {
    f(throttle_time_ms);
    f(topics);
  }
  friend bool operator==(const DeleteRecordsResponse&, const DeleteRecordsResponse&) = default;
};

}  // namespace tk::kafka
