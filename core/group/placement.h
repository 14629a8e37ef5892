// The assignors over numbers, one a file; assignor.cpp turns their answers back into names. Internal to
// core/group.
#pragma once

#include "core/group/assignment_problem.h"

namespace tk {

/// groups.md §4.2, both the client's and the server's.
Owners place_range(const AssignmentProblem& problem);

/// groups.md §4.4.
Owners place_round_robin(const AssignmentProblem& problem);

/// An assignment, and the partitions that wait for their old owner: the new one, else kNobody.
struct StickyPlacement {
  Owners owner;
  Owners transferring;
};

/// Identical subscriptions (groups.md §4.5.1): balanced within one, with the fewest moves.
StickyPlacement place_sticky_constrained(const AssignmentProblem& problem, const ResolvedClaims& claims);

/// Any subscriptions (groups.md §4.6).
Owners place_sticky_general(const AssignmentProblem& problem, const ResolvedClaims& claims);

/// Identical subscriptions (groups.md §4.8). `owner` is the old target.
Owners place_uniform_homogeneous(const AssignmentProblem& problem, Owners owner);

/// Any subscriptions (groups.md §4.9). `owner` is the old target.
Owners place_uniform_heterogeneous(const AssignmentProblem& problem, Owners owner);

}  // namespace tk
