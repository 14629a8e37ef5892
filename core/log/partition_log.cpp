#include "core/log/partition_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/format/batch.h"
#include "core/format/checkpoint_file.h"
#include "core/log/producer_admission.h"
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

void PartitionLog::forget_active() {
  file_.reset();
  size_ = forced_size_ = 0;
  first_timestamp_ = kNoTimestamp;
  index_bytes_ = time_index_bytes_ = 0;
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
