#include "core/log/verify_history.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/log/producer_state.h"
#include "core/log/segment_names.h"

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

void SnapshotCheck::add(const UnitFacts& unit, ProblemCounter& report) {
  if (!started_) {
    started_ = true;
    whole_ = whole_ && unit.first == Offset(0);
  }
  compare_up_to(unit.first, report);
  newest_ = std::max(newest_, unit.max_timestamp);
  if (unit.producer_id.value() < 0 || unit.bad_records) return;
  any_producer_ = true;
  if (known_.size() >= kMostKnown) forget();
  Known& it = known_[unit.producer_id];
  if (it.epoch != unit.producer_epoch) {
    it.epoch = unit.producer_epoch;
    it.last_sequence = -1;
    it.last_offset = Offset(-1);
  }
  it.last_timestamp = unit.max_timestamp;
  if (unit.control) {
    it.transaction_first.reset();
    return;
  }
  it.last_sequence = unit.last_sequence;
  it.last_offset = unit.last;
  if (unit.transactional && !it.transaction_first) it.transaction_first = unit.first;
}

void SnapshotCheck::finish(Offset log_end, ProblemCounter& report) {
  compare_up_to(log_end, report);
}

void SnapshotCheck::compare_up_to(Offset offset, ProblemCounter& report) {
  while (next_ < files_.snapshots.size() && files_.snapshots[next_] <= offset)
    compare(files_.snapshots[next_++], report);
}

// A snapshot that is not whole was named already. Producers that have expired are not in it, and those whose
// records are gone are not in the log.
void SnapshotCheck::compare(Offset at, ProblemCounter& report) const {
  constexpr std::uint64_t largest = 256U << 20;
  const std::string path = join_path(files_.directory, segment_file_name(at, kSnapshotSuffix));
  ProducerState state;
  try {
    if (state.decode_snapshot(as_bytes(read_whole(fs_, path, largest)))) return;
  } catch (const Error&) {
    return;
  }
  const auto wrong = [&](ProducerId id, std::string_view what, std::int64_t found, std::int64_t expected) {
    report({.severity = Severity::derived,
            .kind = "snapshot",
            .file = path,
            .offset = at,
            .found = found,
            .expected = expected,
            .message = fmt::format("{} of producer {} is not as the log has it: a broker that goes by it "
                                   "refuses or doubles what the producer sends next",
                                   what, id.value())});
  };
  for (const auto& [id, entry] : state.producers()) {
    const Offset last = entry.last_batch() != nullptr ? entry.last_batch()->last_offset : Offset(-1);
    if (last >= at) return wrong(id, "the last offset", last.value(), at.value() - 1);
    if (entry.transaction_first && *entry.transaction_first >= at)
      return wrong(id, "the open transaction's first offset", entry.transaction_first->value(),
                   at.value() - 1);
    if (compacted_) continue;
    const auto found = known_.find(id);
    if (found == known_.end()) {
      if (whole_) return wrong(id, "the existence", id.value(), -1);
      continue;
    }
    const Known& it = found->second;
    if (entry.epoch != it.epoch) return wrong(id, "the epoch", entry.epoch, it.epoch);
    if (last != it.last_offset) return wrong(id, "the last offset", last.value(), it.last_offset.value());
    const std::int32_t sequence = entry.last_batch() != nullptr ? entry.last_batch()->last_sequence : -1;
    if (it.last_offset.value() >= 0 && sequence != it.last_sequence)
      return wrong(id, "the last sequence number", sequence, it.last_sequence);
    if (whole_ && entry.transaction_first != it.transaction_first) {
      return wrong(id, "the open transaction's first offset",
                   entry.transaction_first.value_or(Offset(-1)).value(),
                   it.transaction_first.value_or(Offset(-1)).value());
    }
  }
  if (compacted_) return;
  for (const auto& [id, it] : known_) {
    if (it.transaction_first && state.find(id) == nullptr)
      return wrong(id, "the open transaction's first offset", -1, it.transaction_first->value());
  }
}

}  // namespace tk
