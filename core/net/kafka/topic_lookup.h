// Topics of requests: by name, or from the versions on that have ids by id (KIP-516).
#pragma once

#include <memory>
#include <string>

#include "core/net/kafka/call.h"
#include "core/net/kafka/errors.h"

namespace tk::kafka {

struct FoundTopic {
  /// Null if there is none.
  std::shared_ptr<const net::Topic> topic;
  /// The answer where there is none.
  std::int16_t error = kNone;
};

inline FoundTopic find_topic(const net::Catalog& catalog, bool by_id, const std::string& name,
                             const Uuid& id) {
  FoundTopic found;
  found.topic = by_id ? catalog.find(id) : catalog.find(name);
  if (!found.topic) found.error = by_id ? kUnknownTopicId : kUnknownTopicOrPartition;
  return found;
}

/// Bits of every operation that Kafka has for topics and for the cluster: nobody is refused anything.
inline constexpr std::int32_t kTopicOperations = 3576;
inline constexpr std::int32_t kClusterOperations = 8096;
inline constexpr std::int32_t kOperationsNotAsked = INT32_MIN;

/// Opens the partitions (those that are null are left out) and calls `then` on the loop.
void when_all_open(const std::vector<std::shared_ptr<net::Partition>>& partitions,
                   std::function<void()> then);

/// The address that clients are told.
inline net::Address advertised(const Call& call) {
  return call.service().options().advertise.value_or(call.peer().local);
}

}  // namespace tk::kafka
