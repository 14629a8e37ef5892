// Absolute deadlines instead of timers: whoever takes a turn at a group first does what has fallen due
// (groups.md §1).
#pragma once

#include "core/group/group_turn.h"

namespace tk {

/// The next deadline that would be fired, ms; nothing: none runs.
std::optional<std::int64_t> next_deadline(const GroupState& group);

/// Fires every deadline up to the turn's time, each at its own moment and in order, then drops the offsets
/// whose retention has passed (groups.md §7.6). True if anything changed.
bool catch_up(GroupTurn& turn);

}  // namespace tk
