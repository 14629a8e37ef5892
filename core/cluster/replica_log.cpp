#include "core/cluster/replica_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/format/checkpoint_file.h"
#include "core/format/end_marker.h"
#include "core/log/cut.h"
#include "core/log/segment_lookup.h"
#include "core/log/segment_names.h"
#include "core/log/tail_scan.h"

namespace tk {
namespace {

/// A fetch that finds less in its first read than a unit reads on by this much.
constexpr std::size_t kLeastRead = 4096;
constexpr std::size_t kPlaces = 8;
constexpr std::size_t kScrubRead = 1U << 20;

}  // namespace

ReplicaLog::ReplicaLog(FileSystem& fs, std::string directory, Options options)
    : fs_(fs), directory_(std::move(directory)), options_(std::move(options)) {}

void ReplicaLog::open() {
  for (;;) {
    try {
      open_whole();
      return;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt_message || !error.position()) throw;
      // A broker drops everything from the first bad unit on, readable or not (kafka-on-disk.md §9.2). Where
      // somebody is told, a copy of it is kept.
      const std::uint64_t from = *error.position();
      const auto file = fs_.open(error.path(), OpenMode::write);
      if (options_.note) keep_copy(error, from, file->size());
      file->truncate(from);
      if (options_.sync != SyncPolicy::never) file->sync();
    }
  }
}

void ReplicaLog::open_whole() {
  open_partition();
  const PartitionFiles files = list_partition(fs_, directory_);
  start_ = std::max(options_.start, files.segments.empty() ? log_->log_end() : files.segments.front().base);
  start_ = std::min(start_, log_->log_end());
  // A deletion says so in leader-epoch-checkpoint before it takes segments (start_at, retention), and in the
  // log start's checkpoint after.
  known_start_ = options_.start;
  if (!epochs().entries().empty()) known_start_ = std::max(known_start_, epochs().entries().front().start);
  known_start_ = std::min(known_start_, start_);
}

void ReplicaLog::keep_copy(const Error& damage, std::uint64_t from, std::uint64_t to) {
  for (const SegmentFile& segment : list_partition(fs_, directory_).segments) {
    if (segment.log_path != damage.path()) continue;
    const std::string saved = save_cut(fs_, segment, from, to);
    options_.note(fmt::format(
        "{}: damage at byte {}: as a broker's recovery does, all {} bytes from there on are cut, readable "
        "records too; saved as {}",
        segment.log_path, from, to - from, base_name(saved)));
  }
}

void ReplicaLog::open_partition() {
  PartitionLog::Options options;
  options.config = options_.config;
  options.sync = options_.sync;
  options.lock_wait = options_.lock_wait;
  options.start_if_empty = options_.start;
  options.recovery_point = options_.recovery_point;
  options.note = options_.note;
  forget_places();
  log_ = std::make_unique<PartitionLog>(fs_, directory_, std::move(options));
  try {
    log_->begin();
  } catch (...) {
    log_.reset();
    throw;
  }
}

void ReplicaLog::close() {
  if (log_ == nullptr) return;
  log_->close();
  log_.reset();
  forget_places();
}

void ReplicaLog::abandon() {
  log_.reset();
  forget_places();
}

Offset ReplicaLog::first_unstable() {
  Offset first = end();
  for (const auto& [id, entry] : producers().producers()) {
    if (entry.transaction_first) first = std::min(first, *entry.transaction_first);
  }
  return first;
}

Offset ReplicaLog::append(const NewRecord& record, LeaderEpoch epoch) {
  const Offset at = log_->log_end();
  encoded_.clear();
  const auto key = record.key;
  if (options_.format == TopicFormat::kafka) {
    builder_.start(record.timestamp);
    builder_.add(encoded_, record.timestamp, key, record.value, {});
    BatchFields fields;
    fields.base_offset = at;
    fields.leader_epoch = epoch;
    fields.producer_id = record.producer;
    fields.producer_epoch = record.producer_epoch;
    fields.base_sequence = record.sequence;
    if (record.transactional) fields.attribute_bits = kTransactionalBit;
    builder_.finish(fields, {}, compressor_, encoded_);
  } else {
    RecordView view;
    view.timestamp = view.encoded_timestamp = record.timestamp;
    view.key = key;
    view.value = record.value;
    JsonFields fields;
    fields.leader_epoch = epoch;
    fields.producer_id = record.producer;
    fields.producer_epoch = record.producer_epoch;
    fields.sequence = record.sequence;
    fields.transactional = record.transactional;
    encode_json_record(encoded_, at, view, fields);
  }
  UnitInfo info;
  info.kind = options_.format == TopicFormat::kafka ? UnitKind::batch : UnitKind::json;
  info.magic = info.kind == UnitKind::batch ? 2 : -1;
  info.base_offset = info.last_offset = at;
  info.leader_epoch = epoch;
  info.size = encoded_.size();
  info.base_timestamp = info.max_timestamp = record.timestamp;
  info.producer_id = record.producer;
  info.producer_epoch = record.producer_epoch;
  info.base_sequence = record.sequence;
  info.transactional = record.transactional;
  log_->append_at(info, epoch, encoded_.view());
  return at;
}

Offset ReplicaLog::append_marker(const EndMarker& marker, LeaderEpoch epoch) {
  encoded_.clear();
  const UnitInfo info = encode_end_marker(encoded_, options_.format, end(), epoch, marker);
  log_->append_at(info, epoch, encoded_.view());
  return info.base_offset;
}

void ReplicaLog::append_copied(const StoredUnits& units) {
  log_->append_copied(units.bytes.view(), units.units);
}

std::int64_t ReplicaLog::truncate(Offset to) {
  const Offset before = end();
  // What lies above the cut is not where it was any more.
  if (to < before) forget_places();
  log_->truncate_to(std::max(to, start_));
  return before - end();
}

void ReplicaLog::restart_at(Offset at) {
  const bool was_open = is_open();
  log_.reset();
  forget_places();
  for (const DirEntry& entry : fs_.list(directory_)) {
    if (entry.is_directory || entry.name == kPartitionLockFile || entry.name == kPartitionMetadataFile)
      continue;
    fs_.remove(join_path(directory_, entry.name));
  }
  if (options_.sync != SyncPolicy::never) fs_.sync_directory(directory_);
  options_.start = known_start_ = at;
  options_.recovery_point.reset();
  if (was_open) open();
}

void ReplicaLog::start_at(Offset start) {
  start = std::min(start, end());
  if (start <= start_) return;
  if (start > log_->active_base() && start == end()) log_->close_active_segment();
  log_->begins_at(start);
  const PartitionFiles files = list_partition(fs_, directory_);
  for (std::size_t i = 0; i + 1 < files.segments.size() && files.segments[i + 1].base <= start; ++i) {
    const SegmentFile& gone = files.segments[i];
    fs_.remove(gone.log_path);
    for (const std::string_view suffix : {kIndexSuffix, kTimeIndexSuffix, kTxnIndexSuffix})
      fs_.remove(gone.beside(suffix));
  }
  start_ = known_start_ = start;
  options_.start = start;
  forget_places();
}

// ---- reading

void ReplicaLog::forget_places() {
  places_.clear();
  file_.reset();
  file_base_ = Offset(-1);
}

File& ReplicaLog::segment_file(Offset base) {
  if (file_ == nullptr || file_base_ != base) {
    file_ = fs_.open(join_path(directory_, segment_file_name(base, kLogSuffix)), OpenMode::read);
    file_base_ = base;
  }
  return *file_;
}

std::optional<ReplicaLog::Place> ReplicaLog::find_place(Offset from) {
  for (const Place& place : places_) {
    if (place.next == from) return place;
  }
  const PartitionFiles files = list_partition(fs_, directory_);
  for (auto segment = files.segments.rbegin(); segment != files.segments.rend(); ++segment) {
    if (segment->base > from && segment + 1 != files.segments.rend()) continue;
    return Place{from, segment->base, find_offset(fs_, *segment, from).position};
  }
  return std::nullopt;
}

std::optional<ReplicaLog::Place> ReplicaLog::next_segment(Offset after) const {
  for (const SegmentFile& segment : list_partition(fs_, directory_).segments) {
    if (segment.base > after) return Place{segment.base, segment.base, 0};
  }
  return std::nullopt;
}

void ReplicaLog::read_below(Offset end, Offset from, std::int64_t max_records, std::size_t max_bytes,
                            StoredUnits& out) {
  out.clear();
  if (from >= end || max_records <= 0) return;
  std::optional<Place> place = find_place(from);
  std::size_t room = std::max(max_bytes, kLeastRead);
  Buffer window;
  while (place) {
    File& file = segment_file(place->base);
    // No more memory than the file has bytes: a follower that has nearly all asks often.
    const std::uint64_t size = file.size();
    const std::uint64_t left = size - std::min(place->position, size);
    const auto asked =
        static_cast<std::size_t>(std::min<std::uint64_t>(room, std::max<std::uint64_t>(left, 1)));
    const std::size_t got = file.read_at(place->position, {window.room(asked), asked});
    window.commit(got);
    std::size_t at = 0;
    bool full = false;
    while (at < window.size() && !full) {
      const ByteView rest = window.view().subspan(at);
      const Frame frame = frame_unit(rest, rest.size());
      if (frame.status == FrameStatus::cut) break;
      UnitInfo info;
      if (frame.status != FrameStatus::whole || read_unit_info(rest.first(frame.size), frame.kind, info)) {
        throw Error(ErrorCode::corrupt_message, "a replica's log cannot be read here")
            .at(file.path(), place->position + at);
      }
      at += frame.size;
      if (info.last_offset < from) continue;
      const std::int64_t records = info.last_offset - info.base_offset + 1;
      if (!out.units.empty() &&
          (out.records + records > max_records || out.bytes.size() + frame.size > max_bytes)) {
        at -= frame.size;
        full = true;
        break;
      }
      out.bytes.append(rest.first(frame.size));
      out.units.push_back(info);
      out.records += records;
      full = out.records >= max_records;
    }
    place->position += at;
    if (!out.units.empty()) place->next = out.units.back().last_offset + 1;
    if (full || place->next >= end) break;
    if (at == 0 && got == room) {
      room *= 2;  // a unit that is larger than the read
    } else if (got < room) {
      if (at < window.size()) break;  // a writer's unit that is not whole yet
      place = next_segment(place->base);
    } else if (!out.units.empty()) {
      break;
    }
    window.clear();
  }
  if (!place || out.units.empty()) return;
  if (places_.size() < kPlaces) {
    places_.push_back(*place);
  } else {
    places_[next_place_++ % kPlaces] = *place;
  }
}

void ReplicaLog::read_sound(Offset end, Offset from, std::int64_t max_records, std::size_t max_bytes,
                            StoredUnits& out) {
  out.clear();
  forget_places();
  const LeaderEpochs epochs = epochs_on_disk();
  StoredUnits one;
  for (Offset at = from; at < end && out.records < max_records && out.bytes.size() < max_bytes;) {
    try {
      read_below(end, at, 1, kLeastRead, one);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt_message) throw;
      break;
    }
    if (one.units.empty()) break;
    const UnitInfo& unit = one.units.front();
    const bool sound = unit.base_offset == at && unit.last_offset >= at && unit.last_offset < end &&
                       epochs.epoch_at(unit.base_offset) == unit.leader_epoch &&
                       !check_unit(one.bytes.view(), unit.kind);
    if (!sound) break;
    out.bytes.append(one.bytes.view());
    out.units.push_back(unit);
    out.records += one.records;
    at = unit.last_offset + 1;
  }
  forget_places();
}

std::optional<Offset> ReplicaLog::first_damage(Offset from) {
  StoredUnits units;
  Offset at = from;
  std::int64_t at_once = INT64_MAX;
  while (at < end()) {
    try {
      read(at, at_once, kScrubRead, units);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::corrupt_message) throw;
      if (at_once == 1) return at;
      at_once = 1;  // whole units may stand before it
      continue;
    }
    if (units.units.empty()) return at;
    std::size_t position = 0;
    for (const UnitInfo& unit : units.units) {
      const bool in_order = unit.last_offset >= at && unit.last_offset < end() &&
                            (unit.base_offset >= at || at == from) &&
                            epochs().epoch_at(unit.base_offset) == unit.leader_epoch;
      if (!in_order || check_unit(units.bytes.view().subspan(position, unit.size), unit.kind)) return at;
      position += unit.size;
      at = unit.last_offset + 1;
    }
  }
  return std::nullopt;
}

Error ReplicaLog::damage_at(Offset offset) {
  Error error(ErrorCode::corrupt_message,
              fmt::format("damaged at offset {}: no follower gets further", offset.value()));
  if (offset < start_) return std::move(error).at(directory_);  // its segment is gone
  StoredUnits unit;
  try {
    read(offset, 1, kLeastRead, unit);
  } catch (const Error& found) {
    if (found.code() != ErrorCode::corrupt_message || !found.position()) throw;
    return std::move(error).at(found.path(), *found.position());
  }
  const PartitionFiles files = list_partition(fs_, directory_);
  for (auto segment = files.segments.rbegin(); segment != files.segments.rend(); ++segment) {
    if (segment->base > offset) continue;
    if (segment->base == offset) return std::move(error).at(segment->log_path, 0);
    // Behind the last good unit: a search for the damaged one would pass it by.
    read(offset - 1, 1, kLeastRead, unit);
    const std::uint64_t before = find_unit_after(fs_, *segment, offset - 2).position;
    return std::move(error).at(segment->log_path, before + unit.bytes.size());
  }
  return std::move(error).at(directory_);
}

// ---- damage

void ReplicaLog::tear(std::uint64_t bytes) {
  const PartitionFiles files = list_partition(fs_, directory_);
  if (files.segments.empty()) return;
  const auto file = fs_.open(files.segments.back().log_path, OpenMode::write);
  file->truncate(file->size() - std::min(bytes, file->size()));
}

void ReplicaLog::take_torn_tail_for_whole() {
  constexpr std::uint64_t most = 1U << 20;
  const PartitionFiles files = list_partition(fs_, directory_);
  if (files.segments.empty()) return;
  const SegmentFile& last = files.segments.back();
  const std::uint64_t from = scan_last(last).good_bytes;
  const auto file = fs_.open(last.log_path, OpenMode::write);
  if (last.size - from < kBatchHeader || last.size - from > most) return;
  Buffer batch;
  batch.resize(static_cast<std::size_t>(last.size - from));
  file->read_at(from, {batch.data(), batch.size()});
  const std::int64_t size = std::int64_t{load_be<std::int32_t>(batch.data() + batch_layout::kLength)} + 12;
  if (size < static_cast<std::int64_t>(batch.size()) || size > static_cast<std::int64_t>(most) ||
      batch.data()[batch_layout::kMagic] != 2)
    return;
  const std::size_t had = batch.size();
  batch.resize(static_cast<std::size_t>(size));
  std::fill(batch.data() + had, batch.data() + size, std::uint8_t{0});
  store_be(batch.data() + batch_layout::kCrc, batch_crc(batch.view()));
  file->write_at(from, batch.view());
}

bool ReplicaLog::corrupt(Offset offset, std::size_t byte) {
  const PartitionFiles files = list_partition(fs_, directory_);
  for (auto segment = files.segments.rbegin(); segment != files.segments.rend(); ++segment) {
    if (segment->base > offset) continue;
    const std::uint64_t position = find_unit_after(fs_, *segment, offset - 1).position;
    const auto file = fs_.open(segment->log_path, OpenMode::write);
    std::uint8_t held = 0;
    if (file->read_at(position + byte, {&held, 1}) != 1) return false;
    held = static_cast<std::uint8_t>(held ^ 0x55);
    file->write_at(position + byte, {&held, 1});
    return true;
  }
  return false;
}

Offset ReplicaLog::end_on_disk() {
  if (is_open()) return end();
  if (!fs_.stat(directory_)) return options_.start;
  const PartitionFiles files = list_partition(fs_, directory_);
  if (files.segments.empty()) return options_.start;
  return std::max(scan_last(files.segments.back()).next_offset_before_damage, files.segments.back().base);
}

Offset ReplicaLog::last_on_disk() const {
  if (!fs_.stat(directory_)) return options_.start;
  const PartitionFiles files = list_partition(fs_, directory_);
  if (files.segments.empty()) return options_.start;
  return std::max(scan_last(files.segments.back()).next_offset, files.segments.back().base);
}

LeaderEpochs ReplicaLog::epochs_on_disk() const {
  return read_leader_epochs(fs_, directory_);
}

TailScan ReplicaLog::scan_last(const SegmentFile& last) const {
  const ScanRange range{
      .position = 0, .end = last.size, .segment_base = last.base, .after = last.base - 1, .below = {}};
  return scan_to_end(fs_, last, range);
}

LeaderEpochs read_leader_epochs(FileSystem& fs, const std::string& directory) {
  const std::string path = join_path(directory, kLeaderEpochFile);
  if (!fs.stat(path)) return {};
  const LeaderEpochCheckpoint parsed = parse_leader_epoch_checkpoint(read_whole(fs, path));
  return parsed.fault ? LeaderEpochs() : LeaderEpochs(parsed.entries);
}

}  // namespace tk
