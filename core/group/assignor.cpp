#include "core/group/assignor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/group/placement.h"

namespace tk {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"range",   "roundrobin",  "sticky", "cooperative-sticky",
                                                    "uniform", "server-range"};

struct Placement {
  Owners before;
  Owners owner;
  Owners transferring;
  std::string_view algorithm;
};

void refuse_unknown_topics(const AssignmentQuestion& question) {
  for (const MemberSubscription& member : question.members) {
    for (const std::string& topic : member.topics) {
      if (question.partitions.contains(topic)) continue;
      throw Error(
          ErrorCode::invalid_request,
          fmt::format("member '{}' subscribes to topic '{}', which does not exist: the server's range "
                      "assignor refuses that",
                      printable(member.id), printable(topic)))
          .hint(fmt::format("add '{}' to the partition counts, or leave it out", printable(topic)));
    }
  }
}

Placement place_sticky(const AssignmentProblem& problem) {
  const ResolvedClaims claims = resolve_claims(problem);
  if (problem.same_names) {
    auto placed = place_sticky_constrained(problem, claims);
    return {claims.owner, std::move(placed.owner), std::move(placed.transferring), "constrained"};
  }
  Owners owner = place_sticky_general(problem, claims);
  Owners transferring = changing_hands(problem, owner);
  return {claims.owner, std::move(owner), std::move(transferring), "general"};
}

Placement place_uniform(const AssignmentProblem& problem) {
  Owners before = old_target(problem);
  Owners owner = problem.same_topics ? place_uniform_homogeneous(problem, before)
                                     : place_uniform_heterogeneous(problem, before);
  Owners transferring = changing_hands(problem, owner);
  return {std::move(before), std::move(owner), std::move(transferring),
          problem.same_topics ? "homogeneous" : "heterogeneous"};
}

Placement with_transfers(const AssignmentProblem& problem, Owners before, Owners owner, Assignor assignor) {
  Owners transferring = changing_hands(problem, owner);
  return {std::move(before), std::move(owner), std::move(transferring), assignor_name(assignor)};
}

// With at least one member.
Placement place(Assignor assignor, const AssignmentProblem& problem) {
  switch (assignor) {
    case Assignor::range:
      return with_transfers(problem, resolve_claims(problem).owner, place_range(problem), assignor);
    case Assignor::server_range:
      return with_transfers(problem, old_target(problem), place_range(problem), assignor);
    case Assignor::roundrobin:
      return with_transfers(problem, resolve_claims(problem).owner, place_round_robin(problem), assignor);
    case Assignor::uniform:
      return place_uniform(problem);
    case Assignor::sticky:
      return place_sticky(problem);
    case Assignor::cooperative_sticky: {
      Placement placed = place_sticky(problem);
      for (std::size_t p = 0; p < placed.owner.size(); ++p) {
        if (placed.transferring[p] != kNobody) placed.owner[p] = kNobody;
      }
      return placed;
    }
  }
  return {};
}

AssignmentAnswer answer_of(const AssignmentProblem& problem, const Placement& placed) {
  AssignmentAnswer answer;
  answer.algorithm = placed.algorithm;
  std::vector<std::vector<TopicPartition>*> lists;
  for (const auto& member : problem.members) lists.push_back(&answer.assignment[member.subscription->id]);
  for (PartitionIndex p = 0; p < problem.partition_count(); ++p) {
    const MemberIndex owner = placed.owner[p];
    if (owner != kNobody) {
      lists[owner]->push_back(problem.name_of(p));
      if (placed.before[p] != kNobody && placed.before[p] != owner) ++answer.moved;
    }
    const MemberIndex to = placed.transferring[p];
    if (to != kNobody) answer.transferring[problem.name_of(p)] = problem.members[to].subscription->id;
  }
  return answer;
}

}  // namespace

std::string_view assignor_name(Assignor assignor) {
  return kNames[static_cast<std::size_t>(assignor)];
}

std::vector<std::string> assignor_names() {
  return {kNames.begin(), kNames.end()};
}

Assignor parse_assignor(std::string_view name) {
  const auto* const at = std::find(kNames.begin(), kNames.end(), name);
  if (at != kNames.end()) return static_cast<Assignor>(at - kNames.begin());
  std::string message = fmt::format("'{}' is none of {}", printable(name), fmt::join(kNames, ", "));
  if (const auto nearest = nearest_name(name, assignor_names())) {
    message += fmt::format("; did you mean '{}'?", *nearest);
  }
  throw Error(ErrorCode::invalid_request, std::move(message));
}

AssignmentAnswer assign(Assignor assignor, const AssignmentQuestion& question) {
  if (assignor == Assignor::server_range) refuse_unknown_topics(question);
  const AssignmentProblem problem(question);
  Placement placed;
  placed.algorithm = assignor_name(assignor);
  if (!problem.members.empty()) placed = place(assignor, problem);
  return answer_of(problem, placed);
}

}  // namespace tk
