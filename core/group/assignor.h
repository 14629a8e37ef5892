// Who reads what: Kafka's assignors as functions of nothing but the question (groups.md §4).
//
// An answer depends on what the question holds and not on the order of its members or topics: where Kafka
// walks a hash map, this goes by member id, topic and partition, all compared as unsigned bytes and as
// numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/group/topic_partition.h"

namespace tk {

enum class Assignor : std::uint8_t {
  range,               // the client's, per topic (groups.md §4.2)
  roundrobin,          // groups.md §4.4
  sticky,              // KIP-54, eager (groups.md §4.5, §4.6)
  cooperative_sticky,  // KIP-429 (groups.md §4.7)
  uniform,             // KIP-848, the server's default (groups.md §4.8, §4.9)
  server_range,        // KIP-848, the server's range (groups.md §4.2)
};

/// "range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "server-range".
std::string_view assignor_name(Assignor assignor);
/// Every name, in the order of the enumeration.
std::vector<std::string> assignor_names();
/// The assignor of that name; else Error(invalid_request) with the nearest name or all of them.
Assignor parse_assignor(std::string_view name);

struct MemberSubscription {
  std::string id;
  /// group.instance.id of a static member (KIP-345).
  std::optional<std::string> instance;
  std::vector<std::string> topics;
  /// What the member holds; for the server's assignors its old target. A partition that does not exist, or
  /// whose topic nobody subscribes to, is ignored.
  std::vector<TopicPartition> owned;
  /// The generation in which it came to hold that; without one the claim is older than any (-1).
  std::optional<std::int32_t> generation;
};

struct AssignmentQuestion {
  /// How many partitions each topic has. Subscriptions to other topics count for nothing.
  std::map<std::string, std::int32_t> partitions;
  /// Ids differ from each other.
  std::vector<MemberSubscription> members;
};

/// Partitions of each member in their order; a member without any has an empty entry.
using Assignment = std::map<std::string, std::vector<TopicPartition>>;

struct AssignmentAnswer {
  Assignment assignment;
  /// Partitions that go to the member named here from one that holds them now. The cooperative assignor
  /// leaves them out of `assignment`: they are given away in the rebalance that follows their release
  /// (KIP-429).
  std::map<TopicPartition, std::string> transferring;
  /// Partitions in `assignment` that another member of the question owned before (groups.md §6).
  std::int64_t moved = 0;
  /// Which way the assignor took: "constrained" or "general" (sticky), "homogeneous" or "heterogeneous"
  /// (uniform), else its name.
  std::string_view algorithm;
};

/// One rebalance; for the cooperative assignor one of its two phases. Throws Error(invalid_request) only for
/// `server_range` and a member that subscribes to a topic which does not exist: the broker's range refuses
/// that.
///
/// Time and memory go with the number of partitions, of subscriptions and of claims.
AssignmentAnswer assign(Assignor assignor, const AssignmentQuestion& question);

}  // namespace tk
