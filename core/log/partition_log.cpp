#include "core/log/partition_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/format/batch.h"
#include "core/format/checkpoint_file.h"
#include "core/log/cut.h"
#include "core/log/segment_lookup.h"
#include "core/log/segment_names.h"

namespace tk {

PartitionLog::PartitionLog(FileSystem& fs, std::string directory, Options options)
    : fs_(fs), directory_(std::move(directory)), options_(std::move(options)), lock_(fs, [&] {
        fs_.make_directories(directory_);
        return join_path(directory_, kPartitionLockFile);
      }()) {}

PartitionLog::~PartitionLog() = default;

void PartitionLog::note(const std::string& line) const {
  if (options_.note) options_.note(line);
}

void PartitionLog::begin() {
  if (lock_.held()) return;
  lock_.acquire(options_.lock_timeout_ms);
  try {
    if (!lock_.still_in_place(fs_)) {
      throw Error(ErrorCode::unknown_topic_or_partition, "the partition was deleted meanwhile")
          .at(directory_);
    }
    if (opened_ && still_active()) {
      if (file_->size() != size_) take_in_tail();
    } else {
      open();
    }
  } catch (...) {
    opened_ = false;
    lock_.release();
    throw;
  }
}

void PartitionLog::yield() {
  if (!lock_.held()) return;
  if (opened_ && options_.sync != SyncPolicy::never) sync();
  lock_.release();
}

void PartitionLog::close() {
  if (!lock_.held()) return;
  if (opened_ && options_.sync != SyncPolicy::never) {
    sync();
    index_->add_final_time_entry();
    write_index_entries();
  }
  lock_.release();
}

void PartitionLog::settle() {
  if (!lock_.held()) return;
  if (!opened_) open();
  sync();
}

// ---- opening
// -------------------------------------------------------------------------------------------------------

void PartitionLog::open() {
  opened_ = false;
  epochs_.clear();
  const PartitionFiles files = list_partition(fs_, directory_);
  if (!files.pending.empty()) {
    throw Error(ErrorCode::corrupt_message, "the partition holds " + files.pending)
        .at(directory_)
        .hint("settle it with 'tk recover', then append");
  }
  if (files.has_leader_epochs) {
    const auto parsed = parse_leader_epoch_checkpoint(
        as_text(as_bytes(read_whole(fs_, join_path(directory_, kLeaderEpochFile)))));
    if (!parsed.fault) epochs_ = LeaderEpochs(parsed.entries);
  }
  if (files.segments.empty()) {
    create_first_segment();
  } else {
    open_active(files.segments.back());
  }
  if (epochs_.truncate_from_end(log_end_)) save_leader_epochs();
  leader_epoch_ = epochs_.latest().value_or(LeaderEpoch(0));
  durable_end_ = log_end_;
  opened_ = true;
}

void PartitionLog::forget_active() {
  file_.reset();
  size_ = forced_size_ = 0;
  first_timestamp_ = kNoTimestamp;
  index_bytes_ = time_index_bytes_ = 0;
}

void PartitionLog::create_first_segment() {
  log_end_ = options_.start_if_empty;
  start_segment(log_end_);
}

void PartitionLog::start_segment(Offset base) {
  forget_active();
  active_ = {};
  active_.base = base;
  active_.log_path = join_path(directory_, segment_file_name(base, kLogSuffix));
  for (const std::string_view suffix : {kIndexSuffix, kTimeIndexSuffix, kTxnIndexSuffix})
    fs_.remove(active_.beside(suffix));
  file_ = fs_.open(active_.log_path, OpenMode::create);
  fs_.sync_directory(directory_);
  identity_ = file_->stat();
  index_.emplace(base, options_.config.index_interval_bytes);
}

void PartitionLog::open_active(const SegmentFile& segment) {
  forget_active();
  active_ = segment;
  file_ = fs_.open(active_.log_path, OpenMode::write);
  identity_ = file_->stat();
  index_.emplace(active_.base, options_.config.index_interval_bytes);

  const TrustedPlace from = options_.trust_index ? find_last_indexed(fs_, active_)
                                                 : TrustedPlace{0, active_.base - 1, std::nullopt};
  TimeIndexEntry last_time;
  if (from.entry) {
    index_bytes_ = (*from.entry + 1) * OffsetIndexEntry::kSize;
    const Offset indexed =
        OffsetIndexFile(fs_, active_.beside(kIndexSuffix), active_.base).at(*from.entry).offset;
    const TimeIndexFile times(fs_, active_.beside(kTimeIndexSuffix), active_.base);
    // Time entries up to the last offset entry stay; the final one of a clean end goes, and comes again at
    // the next.
    const auto kept = times.last_where([&](const TimeIndexEntry& entry) { return entry.offset <= indexed; });
    if (kept) {
      last_time = times.at(*kept);
      time_index_bytes_ = (*kept + 1) * TimeIndexEntry::kSize;
    }
  }
  // The scan takes the indexed unit in once more, which counts its bytes towards the next entry.
  index_->resume(last_time, last_time, 0);
  indexes_untrimmed_ = true;
  size_ = forced_size_ = from.position;
  log_end_ = from.after + 1;
  take_in_tail();
}

// Scans from size_ to the end of the active segment, takes in what is whole and settles what is not.
void PartitionLog::take_in_tail() {
  active_.size = file_->size();
  const ScanRange range{.position = size_,
                        .end = active_.size,
                        .segment_base = active_.base,
                        .after = std::max(log_end_ - 1, active_.base - 1),
                        .below = {}};
  const TailScan scan =
      scan_to_end(fs_, active_, range, [&](ByteView unit, UnitKind kind, std::uint64_t position) {
        UnitInfo info;
        if (read_unit_info(unit, kind, info)) return;
        index_->add(info.last_offset, position, unit.size(), info.max_timestamp);
        if (info.kind == UnitKind::batch) epochs_.assign(info.leader_epoch, info.base_offset);
      });
  if (scan.stop != TailScan::Stop::clean) settle_damage(active_, scan);
  size_ = scan.good_bytes;
  log_end_ = std::max(scan.next_offset_before_damage, active_.base);
  // What a crashed writer left may not be on the disk yet: it is forced before anything is promised about it.
  forced_size_ = std::min(forced_size_, size_);
  if (first_timestamp_ == kNoTimestamp && size_ > 0) first_timestamp_ = first_unit_timestamp(*file_, size_);
}

void PartitionLog::settle_damage(const SegmentFile& segment, const TailScan& scan) {
  if (scan.stop == TailScan::Stop::damaged && scan.damage.front().next_good) {
    const DamageRange& damage = scan.damage.front();
    throw Error(ErrorCode::corrupt_message,
                fmt::format("{} ({}) before readable records: nothing can be appended behind them",
                            fault_name(damage.fault.kind), damage.fault.detail))
        .at(segment.log_path, damage.position)
        .hint(fmt::format("look with 'tk verify {0}', then choose 'tk recover {0} --salvage' or '--truncate'",
                          directory_));
  }
  const std::uint64_t from = scan.good_bytes;
  const std::uint64_t bytes = segment.size - from;
  if (scan.stop == TailScan::Stop::damaged) {
    const std::string saved = save_cut(fs_, segment, from, segment.size);
    note(fmt::format("{}: {} at byte {}: {} bytes without a whole record cut, saved as {}", segment.log_path,
                     fault_name(scan.damage.front().fault.kind), from, bytes, base_name(saved)));
  } else {
    note(fmt::format("{}: {} at byte {}: {} bytes cut", segment.log_path, fault_name(scan.tail.kind), from,
                     bytes));
  }
  file_->truncate(from);
  file_->sync();
}

// True if the segment that this writer left is still the last one: the same file, not cut, nothing rolled
// since. What others appended to it is then taken in from size_ on.
bool PartitionLog::still_active() {
  const auto on_disk = fs_.stat(active_.log_path);
  if (!on_disk || on_disk->inode != identity_.inode || on_disk->device != identity_.device) return false;
  if (on_disk->size < size_) return false;
  for (const DirEntry& entry : fs_.list(directory_)) {
    const auto name = parse_segment_file_name(entry.name);
    if (name && name->suffix.starts_with(kLogSuffix) && name->base > active_.base) return false;
  }
  return true;
}

// ---- appending
// -----------------------------------------------------------------------------------------------------

// Everything but a full index, which only changes with an entry (has_full_index).
inline bool PartitionLog::must_roll(std::uint64_t size, const AppendUnit& unit, Offset last) const {
  if (last - active_.base > INT32_MAX || size + unit.size > INT32_MAX)
    return size > 0 || last - active_.base > INT32_MAX;
  if (size == 0) return false;
  if (static_cast<std::int64_t>(size + unit.size) > options_.config.segment_bytes) return true;
  return first_timestamp_ >= 0 && unit.max_timestamp >= 0 &&
         unit.max_timestamp - first_timestamp_ > options_.config.segment_ms;
}

// A full index closes the segment; the time index keeps a slot for its final entry (§5.1).
bool PartitionLog::has_full_index() const {
  const auto room = static_cast<std::uint64_t>(options_.config.segment_index_bytes);
  const std::uint64_t entries = (index_bytes_ + index_->offset_entries().size()) / OffsetIndexEntry::kSize;
  const std::uint64_t times = (time_index_bytes_ + index_->time_entries().size()) / TimeIndexEntry::kSize;
  return entries >= room / OffsetIndexEntry::kSize || times + 1 >= room / TimeIndexEntry::kSize;
}

void PartitionLog::append(ByteView bytes, const std::vector<AppendUnit>& units) {
  if (units.empty()) return;
  if (epochs_.assign(leader_epoch_, log_end_)) save_leader_epochs();
  std::size_t written = 0, held = 0;  // bytes on disk, and bytes that go out with the next write
  Offset end = log_end_;
  // Writes what is held; the log's end follows only what is on disk.
  const auto write_held = [&] {
    if (held == 0) return;
    write_out(bytes.subspan(written, held));
    written += held;
    held = 0;
    log_end_ = end;
  };
  bool full_index = has_full_index();
  for (const AppendUnit& unit : units) {
    const Offset last = end + (unit.offsets - 1);
    if (must_roll(size_ + held, unit, last) || (full_index && size_ + held > 0)) {
      write_held();
      roll(end);
      full_index = false;
    }
    if (size_ + held == 0) first_timestamp_ = unit.max_timestamp;
    if (index_->add(last, size_ + held, unit.size, unit.max_timestamp)) full_index = has_full_index();
    held += unit.size;
    end = last + 1;
  }
  write_held();
  if (options_.sync == SyncPolicy::by_append) sync();
  if (options_.sync == SyncPolicy::never) durable_end_ = log_end_;
}

void PartitionLog::append_at(Offset first, Offset last, std::optional<LeaderEpoch> epoch, ByteView unit,
                             std::int64_t max_timestamp) {
  if (epoch && epochs_.assign(*epoch, first)) save_leader_epochs();
  const AppendUnit facts{static_cast<std::uint32_t>(unit.size()), 1, max_timestamp};
  if (must_roll(size_, facts, last) || (size_ > 0 && has_full_index())) roll(std::max(first, log_end_));
  if (size_ == 0) first_timestamp_ = max_timestamp;
  index_->add(last, size_, unit.size(), max_timestamp);
  write_out(unit);
  log_end_ = last + 1;
  if (options_.sync == SyncPolicy::by_append) sync();
  if (options_.sync == SyncPolicy::never) durable_end_ = log_end_;
}

void PartitionLog::write_out(ByteView bytes) {
  try {
    file_->write_at(size_, bytes);
  } catch (...) {
    // A prefix may be on disk: the next turn scans it from here, and cuts what is torn.
    opened_ = false;
    throw;
  }
  size_ += bytes.size();
}

void PartitionLog::sync() {
  if (forced_size_ != size_ || durable_end_ != log_end_) {
    file_->sync();
    forced_size_ = size_;
  }
  write_index_entries();
  durable_end_ = log_end_;
}

void PartitionLog::write_index_entries() {
  const auto flush = [&](std::string_view suffix, const Buffer& entries, std::uint64_t& on_disk,
                         bool& there) {
    // A broker takes a segment without its index files as damaged, so even empty ones are made.
    if (entries.empty() && there && !indexes_untrimmed_) return;
    const auto file = fs_.open(active_.beside(suffix), OpenMode::create);
    // A longer file is preallocated, or holds entries of what is no longer so.
    if (file->size() > on_disk) file->truncate(on_disk);
    if (!entries.empty()) file->write_at(on_disk, entries.view());
    on_disk += entries.size();
    there = true;
  };
  flush(kIndexSuffix, index_->offset_entries(), index_bytes_, active_.has_index);
  flush(kTimeIndexSuffix, index_->time_entries(), time_index_bytes_, active_.has_time_index);
  index_->clear_entries();
  indexes_untrimmed_ = false;
}

void PartitionLog::roll(Offset base) {
  index_->add_final_time_entry();
  file_->sync();
  forced_size_ = size_;
  write_index_entries();
  durable_end_ = log_end_;
  start_segment(base);
}

void PartitionLog::save_leader_epochs() {
  replace_atomically(fs_, join_path(directory_, kLeaderEpochFile),
                     as_bytes(format_leader_epoch_checkpoint(epochs_.entries())));
}

}  // namespace tk
