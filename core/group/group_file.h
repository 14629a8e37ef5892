// The text of DIR/group-<key>.json (groups.md §13):
//
//   {"format":1,"group":"orders-app","seq":42,...,"members":{...},"offsets":{...},...,"crc32c":"9f3a0c11"}
//
// One JSON object. The last member is the CRC-32C, in hex, of the bytes before `,"crc32c"`; a file edited by
// hand may leave it out. Reading is strict: a member that is not known, a number out of range, a list out of
// order, and a state that breaks an invariant are all damage.
#pragma once

#include <string>
#include <string_view>

#include "core/group/group_state.h"

namespace tk {

/// Throws Error(corrupt_state) with the position, or unsupported_version; `path` is for the message.
GroupState parse_group_file(std::string_view text, const std::string& path);
std::string format_group_file(const GroupState& group);

}  // namespace tk
