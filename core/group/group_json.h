// What `tk groups`, `tk commit` and the same questions over HTTP print of a group (cli.md §6), written once.
#pragma once

#include <string>
#include <vector>

#include "core/base/json_writer.h"
#include "core/group/commits.h"
#include "core/group/group_state.h"

namespace tk {

/// ["a","b"]
std::string names_array(const std::vector<std::string>& names);
/// ["orders-0",...]
std::string partitions_array(const PartitionList& partitions);
/// The topics that members subscribe to, or that have commits, in order.
std::vector<std::string> topics_of(const GroupState& group);

/// A row of `describe --members`: {"group","member","instance",...}. The line is not ended, as below.
void member_json(JsonLine& line, const GroupState& group, const std::string& id, const GroupMember& member);
/// A row of `commit`: {"group","topic","partition","offset","previous","went_back",...}.
void commit_json(JsonLine& line, const std::string& group, const CommittedRow& row);

}  // namespace tk
