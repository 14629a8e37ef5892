#include "commands/broker_rows.h"

#include <fmt/format.h>

#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/group_common.h"
#include "commands/group_rows.h"
#include "core/base/text.h"
#include "core/group/group_name.h"

namespace tk {
namespace {

BrokerStateNotes notes_of(Context& context) {
  return {[&context](const Error& error) { context.diagnostics.error(error); },
          [&context](const std::string& note) { context.diagnostics.note(note); }};
}

std::string protocol_of(const BrokerGroup& group) {
  return std::string(group.type == BrokerGroupType::classic && group.protocol_type.empty()
                         ? std::string_view()
                         : broker_group_type_name(group.type));
}

}  // namespace

BrokerGroups broker_groups(const Store& store, Context& context) {
  return read_broker_groups(store, notes_of(context));
}

std::optional<BrokerGroup> broker_group(const std::string& group, const Store& store,
                                        const GroupStore& groups, Context& context) {
  if (!store.is_broker()) return std::nullopt;
  try {
    if (groups.read(group)) return std::nullopt;
  } catch (const Error& error) {
    // It is there, though nobody can read it.
    if (error.code() == ErrorCode::corrupt_state) return std::nullopt;
    throw;
  }
  BrokerGroups of_broker = broker_groups(store, context);
  const auto found = of_broker.groups.find(group);
  return found == of_broker.groups.end() ? std::nullopt : std::optional(std::move(found->second));
}

void refuse_brokers_group(const std::string& group, const Store& store, const GroupStore& groups,
                          Context& context) {
  if (!broker_group(group, store, groups, context)) return;
  throw Error(
      ErrorCode::inconsistent_group_protocol,
      fmt::format("group '{}' is the broker's own: a group of tk's with its name would hide its commits",
                  printable(group)))
      .at(store.directory())
      .hint(
          "start a group of another name where it stands: 'tk groups export GROUP', then "
          "'tk groups reset-offsets NAME --from-file FILE --execute'");
}

TransactionCoordinators transaction_coordinators(const Store& store, Context& context) {
  return read_transaction_coordinators(store, notes_of(context));
}

void broker_state_json(JsonLine& line, const BrokerGroup& group) {
  const std::string protocol = protocol_of(group);
  state_json(line, group.state, StateNames{protocol, group.assignor});
  line.text("type", broker_group_type_name(group.type));
  line.number_or_null("offsets_partition",
                      group.held_by ? std::optional<std::int64_t>(group.held_by->value()) : std::nullopt);
}

std::vector<std::string> broker_state_cells(const BrokerGroup& group) {
  return state_cells(group.state, StateNames{protocol_of(group), group.assignor});
}

Error unknown_broker_group(const std::string& group, const BrokerGroups& groups,
                           const std::string& directory) {
  std::string message = fmt::format("there is no group '{}'", printable(group, 300));
  if (groups.offsets_partitions > 0) {
    message += fmt::format("; its records would lie in __consumer_offsets-{}",
                           offsets_partition_of(group, groups.offsets_partitions));
  }
  Error error = Error(ErrorCode::group_id_not_found, std::move(message)).at(directory);
  std::vector<std::string> names;
  for (const auto& [id, known] : groups.groups) names.push_back(id);
  const auto nearest = nearest_name(group, names);
  return nearest ? std::move(error).hint(fmt::format("did you mean '{}'?", printable(*nearest, 300)))
                 : std::move(error);
}

}  // namespace tk
