// The rules that keep acknowledged records, each of which can be switched off to see what it is for
// (replication.md §2, §7.12), and how replicas follow a leader (§3).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tk {

/// What a follower does about a tail that its leader may not have (replication.md §3). `fetch` is the
/// product.
enum class Truncation : std::uint8_t { hw, kip101, kip279, kip320, fetch };
std::string_view truncation_name(Truncation mode);
std::optional<Truncation> parse_truncation(std::string_view name);

/// True: the rule holds.
struct Rules {
  bool epoch_truncation = true;
  bool epoch_of_end = true;
  bool epoch_fencing = true;
  bool isr_epoch_start = true;
  bool hw_waits_for_isr = true;
  bool consumer_below_hw = true;
  bool isr_shrink_before_ack = true;
  bool clean_election = true;
  bool min_isr = true;
  bool strict_hw = true;
  bool elr = true;
  bool unclean_stop_leaves_isr = true;
  bool broker_epoch = true;
  bool tail_check = true;
  bool sequence_check = true;
  bool producer_epoch = true;
  bool last_stable_offset = true;
  bool quorum_vote_fsync = true;
  bool quorum_epoch_start = true;

  friend bool operator==(const Rules&, const Rules&) = default;
};

struct RuleName {
  std::string_view name;
  /// What goes wrong without it, in a line.
  std::string_view protects;
  bool Rules::*member;
};
/// By the order of replication.md §7.12.
std::span<const RuleName> rule_names();
/// Null if there is no such rule.
const RuleName* find_rule(std::string_view name);

/// The mode of truncation that these rules leave of `mode`.
Truncation truncation_under(const Rules& rules, Truncation mode);

}  // namespace tk
