#include "core/cluster/rules.h"

#include <algorithm>
#include <array>

namespace tk {
namespace {

constexpr std::array<std::string_view, 5> kTruncations = {"hw", "kip101", "kip279", "kip320", "fetch"};

constexpr std::array<RuleName, 19> kRules = {{
    {"epoch-truncation",
     "a follower gives up only what its leader does not have, not all above its own high watermark",
     &Rules::epoch_truncation},
    {"epoch-of-end",
     "the leader's answer names the epoch it is about, so that two fast elections are seen (KIP-279)",
     &Rules::epoch_of_end},
    {"epoch-fencing", "a fetch names the leader epoch it was made for (KIP-320)", &Rules::epoch_fencing},
    {"isr-epoch-start", "a follower joins the ISR only past the start of its leader's epoch",
     &Rules::isr_epoch_start},
    {"hw-waits-for-isr", "a record is committed when every in-sync replica has it", &Rules::hw_waits_for_isr},
    {"consumer-below-hw", "consumers see committed records only", &Rules::consumer_below_hw},
    {"isr-shrink-before-ack", "a slow follower counts until the controller has taken it from the ISR",
     &Rules::isr_shrink_before_ack},
    {"clean-election", "only an in-sync or eligible replica is elected", &Rules::clean_election},
    {"min-isr", "acks=all needs min.insync.replicas members in the ISR", &Rules::min_isr},
    {"strict-hw", "the high watermark stands still while the ISR is below min.insync.replicas (KIP-966)",
     &Rules::strict_hw},
    {"elr",
     "who left an ISR below min.insync.replicas stays eligible, and the last member may leave (KIP-966)",
     &Rules::elr},
    {"unclean-stop-leaves-isr", "a broker back from an unclean stop has no seat it may have lost records of",
     &Rules::unclean_stop_leaves_isr},
    {"broker-epoch", "what an earlier incarnation of a broker sent does not count for this one",
     &Rules::broker_epoch},
    {"tail-check", "a torn or damaged tail is cut at a restart", &Rules::tail_check},
    {"sequence-check", "a retried batch is appended once, and a gap is refused", &Rules::sequence_check},
    {"producer-epoch", "an older instance of a producer is refused", &Rules::producer_epoch},
    {"last-stable-offset", "read_committed stops before an open transaction", &Rules::last_stable_offset},
    {"quorum-vote-fsync", "a voter remembers its vote over a crash", &Rules::quorum_vote_fsync},
    {"quorum-epoch-start", "metadata is committed only with a record of the leader's own epoch",
     &Rules::quorum_epoch_start},
}};

}  // namespace

std::string_view truncation_name(Truncation mode) {
  return kTruncations[static_cast<std::size_t>(mode)];
}

std::optional<Truncation> parse_truncation(std::string_view name) {
  const auto found = std::find(kTruncations.begin(), kTruncations.end(), name);
  if (found == kTruncations.end()) return std::nullopt;
  return static_cast<Truncation>(found - kTruncations.begin());
}

std::span<const RuleName> rule_names() {
  return kRules;
}

const RuleName* find_rule(std::string_view name) {
  const auto found =
      std::find_if(kRules.begin(), kRules.end(), [&](const RuleName& rule) { return rule.name == name; });
  return found == kRules.end() ? nullptr : &*found;
}

Truncation truncation_under(const Rules& rules, Truncation mode) {
  if (!rules.epoch_truncation) return Truncation::hw;
  if (!rules.epoch_of_end) return Truncation::kip101;
  if (!rules.epoch_fencing) return Truncation::kip279;
  return mode;
}

}  // namespace tk
