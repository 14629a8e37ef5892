#include "core/log/partition_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/format/batch.h"
#include "core/format/checkpoint_file.h"
#include "core/log/cut.h"
#include "core/log/leftovers.h"
#include "core/log/producer_admission.h"
#include "core/log/recovery_point.h"
#include "core/log/segment_lookup.h"
#include "core/log/segment_names.h"

namespace tk {

PartitionLog::PartitionLog(FileSystem& fs, std::string directory, Options options)
    : fs_(fs), directory_(std::move(directory)), options_(std::move(options)), lock_(fs, [&] {
        fs_.make_directories(directory_);
        return join_path(directory_, kPartitionLockFile);
      }()) {}

namespace {

/// With forced appends, index entries wait until there are this many bytes of them: their files are forced,
/// too.
constexpr std::size_t kIndexGroup = 512;

}  // namespace

PartitionLog::~PartitionLog() = default;

void PartitionLog::refuse_unsettled() const {
  if (opened_) return;
  throw Error(ErrorCode::storage_error, "the log was not settled after a failure").at(directory_);
}

void PartitionLog::note(const std::string& line) const {
  if (options_.note) options_.note(line);
}

void PartitionLog::begin(const LockWait& wait) {
  if (lock_.held() && opened_) return;
  lock_.acquire(wait);
  force_failed_ = false;
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
  if (opened_ && options_.sync != SyncPolicy::never) {
    change([&] {
      force_file();
      write_index_entries(!index_->offset_entries().empty());
    });
  }
  lock_.release();
}

void PartitionLog::pause() {
  if (lock_.held()) lock_.release();
}

void PartitionLog::close() {
  if (!lock_.held()) return;
  if (opened_ && options_.sync != SyncPolicy::never) {
    change([&] {
      force_file();
      // In the last segment it may get lost: it is only a shorter way to what the log says.
      index_->add_final_time_entry();
      write_index_entries(!index_->offset_entries().empty());
      save_producers();
    });
  }
  lock_.release();
}

void PartitionLog::settle() {
  if (!lock_.held()) return;
  if (!opened_) open();
  if (!force_failed_) sync();
}

// ---- opening
// -------------------------------------------------------------------------------------------------------

void PartitionLog::open() {
  opened_ = false;
  epochs_.clear();
  producers_.reset();
  may_have_producers_ = false;
  PartitionFiles files = list_partition(fs_, directory_);
  // Whoever replaces or removes segments holds the right to write meanwhile: this one was interrupted. What a
  // broker left for later is its own.
  const bool removing = options_.trust_index && std::ranges::any_of(files.others, [](const OtherFile& other) {
                          return other.kind == OtherFile::Kind::deleted;
                        });
  if (!files.pending.empty() || removing) {
    if (!files.pending.empty()) note(directory_ + ": " + files.pending);
    settle_leftovers(fs_, directory_);
    files = list_partition(fs_, directory_);
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
  may_have_producers_ |= !options_.trust_index || !files.snapshots.empty();
  if (options_.trust_index && may_have_producers_) load_producers();
  remove_snapshots_beyond(fs_, directory_, files.snapshots, log_end_);
  if (options_.sync == SyncPolicy::never) durable_end_ = log_end_;
  durable_end_ = std::min(durable_end_, log_end_);
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
  leader_epoch_ =
      std::max(epochs_.latest().value_or(LeaderEpoch(0)), options_.leader_epoch.value_or(LeaderEpoch(0)));
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

  RecoveryPoint from = options_.trust_index ? find_recovery_point(fs_, active_)
                                            : RecoveryPoint{{0, active_.base - 1, std::nullopt}, 0, 0, {}};
  index_bytes_ = from.index_bytes;
  time_index_bytes_ = from.time_index_bytes;
  if (options_.recovery_point && *options_.recovery_point > from.place.after + 1) {
    // The unit that holds the last offset below it; a log that ends before is looked at as a whole.
    const std::uint64_t at = find_unit_after(fs_, active_, *options_.recovery_point - 2).position;
    Buffer unit;
    unit.resize(static_cast<std::size_t>(std::min<std::uint64_t>(active_.size - at, kBatchHeader)));
    unit.cut(file_->read_at(at, {unit.data(), unit.size()}));
    const Frame frame = frame_unit(unit.view(), active_.size - at);
    const bool there = frame.status == FrameStatus::whole || frame.status == FrameStatus::need_more;
    if (there && unit.size() >= kUnitPrefix) {
      from.place.position =
          at + kUnitPrefix +
          static_cast<std::uint64_t>(load_be<std::int32_t>(unit.data() + batch_layout::kLength));
      from.place.after =
          frame.kind == UnitKind::batch && unit.size() < kBatchHeader
              ? *options_.recovery_point - 1
              : std::max(last_offset_of(unit.view(), frame.kind), *options_.recovery_point - 1);
    }
  }
  // The scan takes the indexed unit in once more, which counts its bytes towards the next entry.
  index_->resume(from.last_time, from.last_time, 0);
  indexes_untrimmed_ = true;
  size_ = forced_size_ = from.place.position;
  log_end_ = from.place.after + 1;
  durable_end_ = std::max(durable_end_, log_end_);
  take_in_tail();
  if (options_.trust_index && !from.place.entry) forget_wrong_indexes();
}

// Indexes that do not lead anywhere are emptied before anything is appended, and not before the damage at
// hand was judged: was_never_forced() goes by what they speak of.
void PartitionLog::forget_wrong_indexes() {
  for (const std::string_view suffix : {kIndexSuffix, kTimeIndexSuffix}) {
    const auto stat = fs_.stat(active_.beside(suffix));
    if (!stat || stat->size <= TimeIndexEntry::kSize) continue;  // at most a final entry
    const auto file = fs_.open(active_.beside(suffix), OpenMode::write);
    file->truncate(0);
    file->sync();
  }
}

// Scans from size_ to the end of the active segment, takes in what is whole and settles what is not.
void PartitionLog::take_in_tail() {
  active_.size = file_->size();
  const ScanRange range{.position = size_,
                        .end = active_.size,
                        .segment_base = active_.base,
                        .after = std::max(log_end_ - 1, active_.base - 1),
                        .below = {}};
  std::uint64_t at = size_;  // behind the last whole unit before any damage
  std::vector<LeaderEpochEntry> epochs;
  const TailScan scan =
      scan_to_end(fs_, active_, range, [&](ByteView unit, UnitKind kind, std::uint64_t position) {
        UnitInfo info;
        if (position != at) return;
        at += unit.size();
        if (read_unit_info(unit, kind, info)) return;
        index_->add(info.last_offset, position, unit.size(), info.max_timestamp);
        take_in_producer(unit, info);
        if (info.kind == UnitKind::batch && (epochs.empty() || epochs.back().epoch != info.leader_epoch))
          epochs.push_back({info.leader_epoch, info.base_offset});
      });
  if (scan.stop != TailScan::Stop::clean) settle_damage(active_, scan);
  size_ = scan.good_bytes;
  log_end_ = std::max(scan.next_offset_before_damage, active_.base);
  // An epoch is noted before its first unit is written, which may not have come to be.
  bool changed = epochs_.truncate_from_end(log_end_);
  for (const LeaderEpochEntry& entry : epochs) {
    if (epochs_.epoch_at(entry.start) != entry.epoch) changed |= epochs_.assign(entry.epoch, entry.start);
  }
  if (changed) save_leader_epochs();
  leader_epoch_ =
      std::max(epochs_.latest().value_or(LeaderEpoch(0)), options_.leader_epoch.value_or(LeaderEpoch(0)));
  // What a crashed writer left may not be on the disk yet: it is forced before anything is promised about it.
  forced_size_ = std::min(forced_size_, size_);
  if (first_timestamp_ == kNoTimestamp && size_ > 0) first_timestamp_ = first_unit_timestamp(*file_, size_);
}

void PartitionLog::settle_damage(const SegmentFile& segment, const TailScan& scan) {
  const bool never_forced = options_.trust_index && was_never_forced(fs_, segment, scan);
  if (scan.stop == TailScan::Stop::damaged && scan.damage.front().next_good && !never_forced) {
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
    note(fmt::format("{}: {} at byte {}: {} bytes {} cut{}", segment.log_path,
                     fault_name(scan.damage.front().fault.kind), from, bytes,
                     never_forced ? "that were never forced to disk" : "without a whole record",
                     saved.empty() ? "" : ", saved as " + base_name(saved)));
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
bool PartitionLog::must_roll(std::uint64_t size, const AppendUnit& unit, Offset last) const {
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

void PartitionLog::append(ByteView bytes, const std::vector<AppendUnit>& units,
                          const ProducerFields* producer) {
  if (units.empty()) return;
  if (producer != nullptr) {
    const AdmissionQuestion first{producer->id, producer->epoch, producer->base_sequence,
                                  sequence_after(producer->base_sequence, units.front().offsets - 1),
                                  producer->transactional};
    const Admission admission = admit(producers(), first);
    if (admission.verdict != Admission::Verdict::append) {
      throw admission_error(admission, first).at(directory_);
    }
  }
  change([&] {
    append_units(bytes, units, producer);
    after_append();
  });
}

void PartitionLog::append_units(ByteView bytes, const std::vector<AppendUnit>& units,
                                const ProducerFields* producer) {
  std::optional<ProducerState::Run> run;
  if (producer != nullptr) run.emplace(load_producers().run(*producer));
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
      after_roll();
      full_index = false;
    }
    if (size_ + held == 0) first_timestamp_ = unit.max_timestamp;
    if (index_->add(last, size_ + held, unit.size, unit.max_timestamp)) full_index = has_full_index();
    if (run) run->add(end, unit.offsets, unit.max_timestamp);
    held += unit.size;
    end = last + 1;
  }
  write_held();
}

void PartitionLog::after_append() {
  if (options_.sync == SyncPolicy::by_append) force();
  if (options_.sync == SyncPolicy::never) durable_end_ = log_end_;
  if (producers_ && producers_->wants_snapshot(size_)) save_producers();
}

void PartitionLog::append_at(const UnitInfo& info, std::optional<LeaderEpoch> epoch, ByteView unit) {
  const Offset first = info.base_offset, last = info.last_offset;
  change([&] {
    if (info.producer_id.value() >= 0) load_producers();
    if (epoch && epochs_.assign(*epoch, first)) save_leader_epochs();
    const AppendUnit facts{static_cast<std::uint32_t>(unit.size()), 1, info.max_timestamp};
    if (must_roll(size_, facts, last) || (size_ > 0 && has_full_index())) {
      roll(std::max(first, log_end_));
      after_roll();
    }
    if (size_ == 0) first_timestamp_ = info.max_timestamp;
    index_->add(last, size_, unit.size(), info.max_timestamp);
    write_out(unit);
    log_end_ = last + 1;
    take_in_producer(unit, info);
    after_append();
  });
}

void PartitionLog::write_out(ByteView bytes) {
  file_->write_at(size_, bytes);
  size_ += bytes.size();
}

void PartitionLog::sync() {
  change([&] { force(); });
}

void PartitionLog::force_file() {
  if (forced_size_ != size_ || durable_end_ != log_end_) {
    force_failed_ = true;
    file_->sync();
    force_failed_ = false;
    forced_size_ = size_;
  }
  durable_end_ = log_end_;
}

void PartitionLog::force() {
  force_file();
  const std::size_t waiting = index_->offset_entries().size();
  if (options_.sync == SyncPolicy::by_append && waiting < kIndexGroup) return;
  write_index_entries(waiting > 0);
}

// Time entries first, each file forced if asked for: whoever trusts the last offset entry need not doubt what
// the time index says up to there.
void PartitionLog::write_index_entries(bool forced) {
  if (producers_) producers_->write_txn_index(active_, forced);
  const auto flush = [&](std::string_view suffix, const Buffer& entries, std::uint64_t& on_disk,
                         bool& there) {
    // A broker takes a segment without its index files as damaged, so even empty ones are made.
    if (entries.empty() && there && !indexes_untrimmed_) return;
    const auto file = fs_.open(active_.beside(suffix), OpenMode::create);
    // A longer file is preallocated, or holds entries of what is no longer so.
    if (file->size() > on_disk) file->truncate(on_disk);
    if (!entries.empty()) file->write_at(on_disk, entries.view());
    if (forced) file->sync();
    on_disk += entries.size();
    there = true;
  };
  flush(kTimeIndexSuffix, index_->time_entries(), time_index_bytes_, active_.has_time_index);
  flush(kIndexSuffix, index_->offset_entries(), index_bytes_, active_.has_index);
  index_->clear_entries();
  indexes_untrimmed_ = false;
}

void PartitionLog::roll(Offset base) {
  index_->add_final_time_entry();
  force_file();
  write_index_entries(true);
  if (producers_) producers_->save(base, active_.base, true);
  start_segment(base);
}

void PartitionLog::after_roll() {
  if (!options_.rolled) return;
  try {
    const std::optional<Offset> start = options_.rolled();
    if (start && epochs_.truncate_from_start(*start)) save_leader_epochs();
  } catch (const Error& error) {
    note(fmt::format("{}: {}", error.path().empty() ? directory_ : error.path(), error.message()));
  }
}

// ---- producers
// -----------------------------------------------------------------------------------------------------

const ProducerState& PartitionLog::producers() {
  static const ProducerState none;
  return may_have_producers_ ? load_producers().state() : none;
}

PartitionProducers& PartitionLog::load_producers() {
  if (producers_) return *producers_;
  LogView view;
  view.files = list_partition(fs_, directory_);
  view.log_start = view.files.segments.empty() ? log_end_ : view.files.segments.front().base;
  view.log_end = log_end_;
  view.last_segment_end = size_;
  PartitionProducers loaded(fs_, directory_, options_.producer_snapshot_bytes);
  loaded.load(view);
  may_have_producers_ = true;
  return producers_.emplace(std::move(loaded));
}

// At the end of the log, which is forced up to there.
void PartitionLog::save_producers() {
  if (!producers_) return;
  producers_->write_txn_index(active_, options_.sync != SyncPolicy::never);
  producers_->save(log_end_, active_.base, options_.sync != SyncPolicy::never);
  producers_->saved_at(size_);
}

// Without a loaded state, what another writer brought is taken in by loading it, when somebody asks.
void PartitionLog::take_in_producer(ByteView unit, const UnitInfo& info) {
  if (info.producer_id.value() < 0) return;
  may_have_producers_ = true;
  if (producers_) producers_->add(unit, info);
}

void PartitionLog::close_active_segment() {
  if (size_ == 0) return;
  change([&] { roll(log_end_); });
}

void PartitionLog::begins_at(Offset start) {
  change([&] {
    if (epochs_.truncate_from_start(start)) save_leader_epochs();
  });
}

void PartitionLog::save_leader_epochs() {
  replace_atomically(fs_, join_path(directory_, kLeaderEpochFile),
                     as_bytes(format_leader_epoch_checkpoint(epochs_.entries())),
                     options_.sync != SyncPolicy::never);
}

}  // namespace tk
