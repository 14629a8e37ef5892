// Records in: Produce.
//
// Each message is described once (serve.md §1.6): its members, and fields() that lists them in the order of
// the wire with the versions that have them. The names are those of Kafka's message definitions.
#pragma once

#include "core/net/kafka/codec.h"

namespace tk::kafka {

struct ProduceRequest {
  static constexpr MessageType kType{0, 3, 13, 9};
  struct TopicData {
    struct PartitionData {
      std::int32_t index = 0;
      Records records;

      template <class F>
      void fields(F& f) {
        f(index);
        f(records);
      }
      friend bool operator==(const PartitionData&, const PartitionData&) = default;
    };

    Uuid topic_id;
    std::string name;
    std::vector<PartitionData> partition_data;

    template <class F>
    void fields(F& f) {
      f(topic_id, Versions{13});
      f(name, Versions{3, 12});
      f(partition_data);
    }
    friend bool operator==(const TopicData&, const TopicData&) = default;
  };

  std::optional<std::string> transactional_id;
  std::int16_t acks = 0;
  std::int32_t timeout_ms = 0;
  std::vector<TopicData> topic_data;

  template <class F>
  void fields(F& f) {
    f(transactional_id);
    f(acks);
    f(timeout_ms);
    f(topic_data);
  }
  friend bool operator==(const ProduceRequest&, const ProduceRequest&) = default;
};

struct ProduceResponse {
  static constexpr MessageType kType{0, 3, 13, 9};
  struct Response {
    struct PartitionResponse {
      struct RecordError {
        std::int32_t batch_index = 0;
        std::optional<std::string> batch_index_error_message;

        template <class F>
        void fields(F& f) {
          f(batch_index);
          f(batch_index_error_message);
        }
        friend bool operator==(const RecordError&, const RecordError&) = default;
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

      std::int32_t index = 0;
      std::int16_t error_code = 0;
      std::int64_t base_offset = 0;
      std::int64_t log_append_time_ms = -1;
      std::int64_t log_start_offset = -1;
      std::vector<RecordError> record_errors;
      std::optional<std::string> error_message;
      CurrentLeader current_leader;

      template <class F>
      void fields(F& f) {
        f(index);
        f(error_code);
        f(base_offset);
        f(log_append_time_ms);
        f(log_start_offset, Versions{5});
        f(record_errors, Versions{8});
        f(error_message, Versions{8});
        f.tag(0, current_leader, CurrentLeader{}, Versions{10});
      }
      friend bool operator==(const PartitionResponse&, const PartitionResponse&) = default;
    };

    Uuid topic_id;
    std::string name;
    std::vector<PartitionResponse> partition_responses;

    template <class F>
    void fields(F& f) {
      f(topic_id, Versions{13});
      f(name, Versions{3, 12});
      f(partition_responses);
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

  std::vector<Response> responses;
  std::int32_t throttle_time_ms = 0;
  std::vector<NodeEndpoint> node_endpoints;

  template <class F>
  void fields(F& f) {
    f(responses);
    f(throttle_time_ms);
    f.tag(0, node_endpoints, std::vector<NodeEndpoint>{}, Versions{10});
  }
  friend bool operator==(const ProduceResponse&, const ProduceResponse&) = default;
};

}  // namespace tk::kafka
