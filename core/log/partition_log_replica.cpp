// What a replica does to its log beside appending: taking a leader's units over as they are, beginning an
// epoch, and giving up a tail that the leader does not have (KIP-101, KIP-279).
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/log/partition_log.h"
#include "core/log/segment_lookup.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

/// Where the first unit that holds `end` or lies above it begins in the segment.
std::uint64_t cut_position(FileSystem& fs, const SegmentFile& segment, Offset end) {
  return find_unit_after(fs, segment, end - 1).position;
}

}  // namespace

void PartitionLog::begin_epoch(LeaderEpoch epoch) {
  change([&] {
    if (epochs_.assign(epoch, log_end_)) save_leader_epochs();
    leader_epoch_ = std::max(leader_epoch_, epoch);
  });
}

void PartitionLog::append_copied(ByteView bytes, std::span<const UnitInfo> units) {
  if (units.empty()) return;
  change([&] {
    bool new_epochs = false;
    for (const UnitInfo& unit : units) new_epochs |= epochs_.assign(unit.leader_epoch, unit.base_offset);
    if (new_epochs) save_leader_epochs();
    leader_epoch_ = std::max(leader_epoch_, epochs_.latest().value_or(leader_epoch_));
    std::size_t written = 0, held = 0;
    Offset end = log_end_;
    const auto write_held = [&] {
      if (held == 0) return;
      write_out(bytes.subspan(written, held));
      written += held;
      held = 0;
      log_end_ = end;
    };
    for (const UnitInfo& unit : units) {
      const AppendUnit facts{static_cast<std::uint32_t>(unit.size), 1, unit.max_timestamp};
      if (must_roll(size_ + held, facts, unit.last_offset) || (size_ + held > 0 && has_full_index())) {
        write_held();
        roll(std::max(unit.base_offset, log_end_));
        after_roll();
      }
      if (size_ + held == 0) first_timestamp_ = unit.max_timestamp;
      index_->add(unit.last_offset, size_ + held, unit.size, unit.max_timestamp);
      if (unit.producer_id.value() >= 0) load_producers();
      const ByteView content = bytes.subspan(written + held, unit.size);
      held += unit.size;
      end = unit.last_offset + 1;
      take_in_producer(content, unit);
    }
    write_held();
    after_append();
  });
}

void PartitionLog::truncate_to(Offset end) {
  refuse_unsettled();
  if (end >= log_end_) {
    change([&] {
      if (epochs_.truncate_from_end(log_end_)) save_leader_epochs();
    });
    return;
  }
  // What waits for the index speaks of units that may go: the opening below finds what remains.
  opened_ = false;
  PartitionFiles files = list_partition(fs_, directory_);
  file_.reset();
  // From the end, so that a crash in between leaves a log without a hole.
  while (files.segments.size() > 1 && files.segments.back().base >= end) {
    const SegmentFile& gone = files.segments.back();
    fs_.remove(gone.log_path);
    for (const std::string_view suffix : {kIndexSuffix, kTimeIndexSuffix, kTxnIndexSuffix})
      fs_.remove(gone.beside(suffix));
    files.segments.pop_back();
  }
  const SegmentFile& last = files.segments.back();
  const auto file = fs_.open(last.log_path, OpenMode::write);
  const std::uint64_t kept = std::min(cut_position(fs_, last, end), file->size());
  file->truncate(kept);
  if (options_.sync != SyncPolicy::never) {
    file->sync();
    fs_.sync_directory(directory_);
  }
  durable_end_ = std::min(durable_end_, end);
  log_end_ = Offset(0);
  open();
  // Entries beyond the new end go now: they would speak of what comes in place of the units that went.
  change([&] { write_index_entries(options_.sync != SyncPolicy::never); });
  // The opening took more than was asked for: what was left ends in damage. (Only a unit that reaches over
  // `end` goes with it otherwise, and with it `kept` ends.)
  if (active_.base == last.base && size_ < kept && log_end_ < end) {
    throw Error(ErrorCode::corrupt_message,
                fmt::format("the log was to be cut at offset {}, and what lies below cannot be read from "
                            "offset {} on",
                            end.value(), log_end_.value()))
        .at(last.log_path, size_);
  }
}

}  // namespace tk
