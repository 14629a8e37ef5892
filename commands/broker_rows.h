// What the commands about groups and transactions show of a Kafka broker's own (core/store/broker_state.h).
#pragma once

#include <optional>
#include <string>

#include "commands/table.h"
#include "core/base/json_writer.h"
#include "core/group/group_store.h"
#include "core/store/broker_state.h"

namespace tk {

struct Context;

/// Reads them, with what cannot be read reported.
BrokerGroups broker_groups(const Store& store, Context& context);
/// The broker's group of this name; nothing if there is none, or tk keeps one of that name here, which comes
/// first. Throws invalid_group_id.
std::optional<BrokerGroup> broker_group(const std::string& group, const Store& store,
                                        const GroupStore& groups, Context& context);
/// For what would make a group of tk's, or change one: throws inconsistent_group_protocol where the group of
/// that name is the broker's, whose commits a new group would hide. Throws invalid_group_id.
void refuse_brokers_group(const std::string& group, const Store& store, const GroupStore& groups,
                          Context& context);
TransactionCoordinators transaction_coordinators(const Store& store, Context& context);

/// The members of state_json() and `type`, `offsets_partition`; the line not ended.
void broker_state_json(JsonLine& line, const BrokerGroup& group);
std::vector<std::string> broker_state_cells(const BrokerGroup& group);

/// The error for a group that neither the broker nor tk knows, with the nearest name and the partition of
/// __consumer_offsets that would hold it.
Error unknown_broker_group(const std::string& group, const BrokerGroups& groups,
                           const std::string& directory);

}  // namespace tk
