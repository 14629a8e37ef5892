#include "core/log/verify_history.h"

#include <fmt/format.h>

#include <algorithm>

namespace tk {

void EpochCheck::add(const UnitFacts& unit, const std::string& segment_path, ProblemCounter& report) {
  if (unit.kind == UnitKind::legacy) return;
  if (unit.leader_epoch < latest_) {
    report({.severity = Severity::damage,
            .kind = "record",
            .file = segment_path,
            .position = unit.position,
            .offset = unit.first,
            .found = unit.leader_epoch.value(),
            .expected = latest_.value(),
            .message = fmt::format(
                "leader epoch goes back from {} (begun at byte {}) to {}: one of the headers is wrong",
                latest_.value(), latest_position_, unit.leader_epoch.value())});
  }
  if (unit.leader_epoch != latest_) {
    latest_ = unit.leader_epoch;
    latest_position_ = unit.position;
  }
  if (checkpoint_ && unit.leader_epoch.value() >= 0) compare(unit, report);
}

void EpochCheck::compare(const UnitFacts& unit, ProblemCounter& report) {
  if (unit.last < from_) return;
  const Offset first = std::max(unit.first, from_);
  const auto& entries = *checkpoint_;
  while (next_ < entries.size() && entries[next_].start <= first) ++next_;
  if (entries.empty() && !demanded_) return;
  const LeaderEpoch stored = next_ == 0 ? kNoLeaderEpoch : entries[next_ - 1].epoch;
  if (stored == unit.leader_epoch) return;
  report({.severity = Severity::derived,
          .kind = "epoch_checkpoint",
          .file = path_,
          .offset = first,
          .found = stored.value(),
          .expected = unit.leader_epoch.value(),
          .message =
              stored == kNoLeaderEpoch
                  ? fmt::format("no entry for offset {}, which was written under leader epoch {}",
                                first.value(), unit.leader_epoch.value())
                  : fmt::format("says that offset {} was written under leader epoch {}; its batch says {}",
                                first.value(), stored.value(), unit.leader_epoch.value())});
  checkpoint_.reset();  // the first disagreement says enough
}

bool ProducerCheck::add(const UnitFacts& unit, bool behind_gap, const std::string& segment_path,
                        ProblemCounter& report) {
  if (unit.producer_id.value() < 0 || unit.bad_records) return false;
  if (known_.size() >= kMostKnown) known_.clear();
  const auto [at, is_new] = known_.try_emplace(unit.producer_id);
  State& state = at->second;
  if (unit.control) {
    const bool aborted = unit.aborts && state.transaction_open;
    state.transaction_open = false;
    if (state.epoch != unit.producer_epoch) {
      state.first_sequence = state.last_sequence = -1;
      state.epoch = unit.producer_epoch;
    }
    return aborted;
  }
  const auto wrong = [&](Severity severity, std::optional<std::int64_t> found,
                         std::optional<std::int64_t> expected, std::string message) {
    report({.severity = severity,
            .kind = "record",
            .file = segment_path,
            .position = unit.position,
            .offset = unit.first,
            .found = found,
            .expected = expected,
            .message = std::move(message)});
  };
  if (!unit.transactional && state.transaction_open) {
    wrong(Severity::damage, {}, {},
          fmt::format("batch of producer {} outside of the transaction that it has open",
                      unit.producer_id.value()));
  }
  const bool same_epoch = !is_new && state.epoch == unit.producer_epoch && state.last_sequence >= 0;
  // A client that lost its state may begin at 0 again; and numbers wrap from the largest to 0.
  if (same_epoch && unit.base_sequence > 0 && unit.base_sequence <= state.last_sequence &&
      state.first_sequence <= state.last_sequence) {
    const bool repeats =
        unit.base_sequence == state.first_sequence && unit.last_sequence == state.last_sequence;
    wrong(repeats && !behind_gap ? Severity::note : Severity::damage, unit.base_sequence,
          static_cast<std::int64_t>(state.last_sequence) + 1,
          fmt::format("sequence number of producer {} goes back from {} (batch at byte {}) to {}: {}",
                      unit.producer_id.value(), state.last_sequence, state.position, unit.base_sequence,
                      repeats ? "the batch repeats the one before" : "one of the headers is wrong"));
  }
  state = {unit.producer_epoch, unit.base_sequence, unit.last_sequence, unit.position, unit.transactional};
  return false;
}

}  // namespace tk
