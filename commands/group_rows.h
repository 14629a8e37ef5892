// A group as one row: `tk groups list` and `describe --state`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/table.h"
#include "core/base/json_writer.h"
#include "core/group/group_state.h"

namespace tk {

/// Names in place of those of the state's own protocol and assignor; an empty one is none.
struct StateNames {
  std::string protocol, assignor;
};

/// {"group","state","protocol","assignor","generation","members","topics"}, the line not ended.
void state_json(JsonLine& line, const GroupState& group, const std::optional<StateNames>& names = {});
std::vector<std::string> state_cells(const GroupState& group, const std::optional<StateNames>& names = {});
Table state_table();

}  // namespace tk
