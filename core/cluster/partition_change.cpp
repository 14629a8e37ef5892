#include "core/cluster/partition_change.h"

namespace tk {
namespace {

BrokerIds without(const BrokerIds& ids, const BrokerIds& gone) {
  BrokerIds left;
  for (const BrokerId id : ids) {
    if (!holds(gone, id)) left.push_back(id);
  }
  return left;
}

/// ELR = (ELR + old ISR) - new ISR - unclean stops, while the ISR is below the minimum.
BrokerIds next_elr(const PartitionRegistration& from, const BrokerIds& isr,
                   const PartitionChangeRequest& request, const ElectionRules& rules) {
  if (!rules.elr || static_cast<std::int32_t>(isr.size()) >= rules.effective_min_isr) return {};
  BrokerIds all = from.elr;
  for (const BrokerId id : from.isr) {
    if (!holds(all, id)) all.push_back(id);
  }
  std::sort(all.begin(), all.end());
  return without(without(all, isr), request.unclean_stops);
}

struct Choice {
  BrokerId leader = kNoBroker;
  bool unclean = false;
};

Choice elect(const PartitionRegistration& from, const BrokerIds& isr, const BrokerIds& elr,
             const PartitionChangeRequest& request, const ElectionRules& rules) {
  const auto electable = [&](BrokerId id) {
    if (id == kNoBroker || !rules.active(id)) return false;
    return !rules.clean || holds(isr, id) || (isr.empty() && holds(elr, id));
  };
  if (request.wanted != kNoBroker && electable(request.wanted)) return {request.wanted};
  if (request.election == ElectionKind::preferred && electable(from.replicas.front()))
    return {from.replicas.front()};
  if (electable(from.leader)) return {from.leader};
  for (const BrokerId id : from.replicas) {
    if (electable(id)) return {id};
  }
  const bool unclean = rules.unclean || request.election == ElectionKind::unclean;
  if (unclean && request.wanted != kNoBroker && rules.active(request.wanted)) return {request.wanted, true};
  if (rules.elr && isr.empty() && elr.empty() && from.last_known_leader != kNoBroker &&
      rules.active(from.last_known_leader))
    return {from.last_known_leader, true};
  if (unclean) {
    for (const BrokerId id : from.replicas) {
      if (rules.active(id)) return {id, true};
    }
  }
  return {};
}

}  // namespace

PartitionChange change_partition(const PartitionRegistration& from, const PartitionChangeRequest& request,
                                 const ElectionRules& rules) {
  PartitionChange change;
  PartitionRegistration& to = change.state;
  to = from;
  to.isr = request.isr.value_or(from.isr);
  to.elr = next_elr(from, to.isr, request, rules);
  if (request.by_leader) to.recovering = false;
  const Choice choice = elect(from, to.isr, to.elr, request, rules);
  if (choice.leader != from.leader) {
    change.unclean = choice.unclean;
    if (choice.unclean) {
      to.isr = {choice.leader};
      to.elr.clear();
      to.recovering = true;
    } else if (choice.leader != kNoBroker && !holds(to.isr, choice.leader)) {
      // From the ELR, or, without the rule of clean elections, from anywhere.
      if (to.isr.empty() || !rules.clean) to.isr = {choice.leader};
      to.elr = without(to.elr, to.isr);
    }
    to.leader = choice.leader;
    ++to.leader_epoch;
  }
  // Without ELR the last member keeps its seat while it is dead.
  if (to.isr.empty() && !rules.elr) to.isr = from.isr;
  if (rules.elr && to.isr.empty() && to.last_known_leader == kNoBroker) to.last_known_leader = from.leader;
  if (to.leader != kNoBroker) to.last_known_leader = kNoBroker;
  change.changed = to != from;
  if (change.changed) ++to.partition_epoch;
  return change;
}

}  // namespace tk
