// What classic members of type "consumer" say to each other in their own bytes: subscriptions and assignments
// (Kafka: ConsumerProtocolSubscription, ConsumerProtocolAssignment). The server need not understand them; it
// reads them for people, and for commits.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/group/group_state.h"

namespace tk::kafka {

/// The topics of a subscription, sorted; nothing if the bytes are none.
std::optional<std::vector<std::string>> read_subscription(std::string_view bytes);
/// The partitions of an assignment, sorted; nothing if the bytes are none.
std::optional<PartitionList> read_assignment(std::string_view bytes);

/// Version 0 of both, for members that tk itself made.
std::string write_subscription(const std::vector<std::string>& topics);
std::string write_assignment(const PartitionList& partitions);

}  // namespace tk::kafka
