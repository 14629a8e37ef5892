// What must hold of a group whatever happened to it (groups.md §14): checked when a file is read, and before
// one is written.
#pragma once

#include <optional>
#include <string>

#include "core/group/group_state.h"

namespace tk {

/// The first of G1, G2, G3, G5, G6, G7 and G15 that does not hold of a state, in words; nothing if all do.
std::optional<std::string> broken_invariant(const GroupState& group);

/// The first of G4, G9 and G16 that does not hold of a change from one saved state to the next.
std::optional<std::string> broken_change(const GroupState& before, const GroupState& after);

}  // namespace tk
