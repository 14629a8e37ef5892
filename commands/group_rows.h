// A group as one row: `tk groups list` and `describe --state`.
#pragma once

#include <string>
#include <vector>

#include "commands/table.h"
#include "core/base/json_writer.h"
#include "core/group/group_state.h"

namespace tk {

/// {"group","state","protocol","assignor","generation","members","topics"}, the line not ended.
void state_json(JsonLine& line, const GroupState& group);
std::vector<std::string> state_cells(const GroupState& group);
Table state_table();

}  // namespace tk
