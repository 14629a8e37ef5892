// The history of a group: DIR/group-<key>.events.ndjson, a line an event (groups.md §13, §15). It explains
// what happened; nothing depends on it, so it is not forced to disk.
#pragma once

#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/group/group_turn.h"
#include "core/io/file_system.h"

namespace tk {

/// {"ts":..,"group":..,"ev":..,"member":..,"generation":..,"detail":{..}} and a line feed.
void append_event(TextBuffer& to, const std::string& group, const GroupEvent& event);

/// Beyond this size the older half goes.
inline constexpr std::uint64_t kLargestHistory = 1U << 20;

/// Appends to the file at `path`. The caller holds the group's lock.
void append_events(FileSystem& fs, const std::string& path, const std::string& group,
                   const std::vector<GroupEvent>& events);

/// The whole lines of a history, oldest first, without their line feeds; none if there is no such file. What
/// is no line of ours (a cut one, after a crash) is left out and counted.
struct History {
  std::vector<std::string> lines;
  std::int64_t unreadable = 0;
};
History read_events(FileSystem& fs, const std::string& path);

}  // namespace tk
