#include "core/log/producer_state.h"

#include <algorithm>
#include <vector>

#include "core/base/crc.h"
#include "core/format/control_record.h"
#include "core/format/record_decoder.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

// The file: version i16 | crc u32 | count i32 | entries (§6.2).
constexpr std::size_t kCrcAt = 2;
constexpr std::size_t kCovered = 6;  // the checksum covers what follows from here on
constexpr std::size_t kHead = 10;
constexpr std::size_t kEntry = 46;
constexpr std::int16_t kVersion = 1;

struct Marker {
  bool aborted = false;
  std::optional<std::int32_t> coordinator_epoch;
  std::int64_t timestamp = kNoTimestamp;
};

std::optional<Marker> marker_of_json(ByteView unit) {
  thread_local JsonRecordDecoder decoder;
  RecordView record;
  if (decoder.decode(unit, record) || decoder.fields().control == JsonControl::none) return std::nullopt;
  return Marker{decoder.fields().control == JsonControl::abort, std::nullopt, record.timestamp};
}

/// The first record decides, as a marker batch has but one. A value that cannot be read still ends the
/// transaction: the key says so.
std::optional<Marker> marker_of(ByteView unit, const UnitInfo& info) {
  if (info.kind == UnitKind::json) return marker_of_json(unit);
  thread_local RecordDecoder decoder;
  std::optional<Marker> marker;
  bool first = true;
  const Fault fault = decoder.decode(unit, info, [&](const RecordView& record) {
    if (!first) return;
    first = false;
    ControlKey key;
    if (parse_control_key(record.key, key) || !key.ends_transaction()) return;
    marker = Marker{key.type == ControlType::abort, std::nullopt, record.timestamp};
    std::int32_t epoch = 0;
    if (!parse_end_marker(record.value, epoch)) marker->coordinator_epoch = epoch;
  });
  return fault ? std::nullopt : marker;
}

void encode_entry(std::uint8_t* to, ProducerId id, const ProducerEntry& entry) {
  const ProducedBatch none;
  const ProducedBatch& last = entry.last_batch() != nullptr ? *entry.last_batch() : none;
  store_be<std::int64_t>(to, id.value());
  store_be<std::int16_t>(to + 8, entry.epoch);
  store_be<std::int32_t>(to + 10, last.last_sequence);
  store_be<std::int64_t>(to + 14, last.last_offset.value());
  store_be<std::int32_t>(to + 22, last.offset_delta);
  store_be<std::int64_t>(to + 26, entry.last_timestamp);
  store_be<std::int32_t>(to + 34, entry.coordinator_epoch);
  store_be<std::int64_t>(to + 38, entry.transaction_first.value_or(Offset(-1)).value());
}

ProducerEntry decode_entry(const std::uint8_t* from) {
  ProducerEntry entry;
  entry.epoch = load_be<std::int16_t>(from + 8);
  entry.last_timestamp = load_be<std::int64_t>(from + 26);
  entry.coordinator_epoch = load_be<std::int32_t>(from + 34);
  const Offset last_offset(load_be<std::int64_t>(from + 14));
  if (last_offset.value() >= 0) {
    entry.push({load_be<std::int32_t>(from + 10), last_offset, load_be<std::int32_t>(from + 22),
                entry.last_timestamp});
  }
  const Offset first(load_be<std::int64_t>(from + 38));
  if (first.value() >= 0) entry.transaction_first = first;
  return entry;
}

}  // namespace

// dec() of §2.4: the way back from the last sequence, through 0 to 2^31-1.
std::int32_t ProducedBatch::first_sequence() const {
  if (last_sequence < 0) return -1;
  const std::int64_t first = static_cast<std::int64_t>(last_sequence) - offset_delta;
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(first < 0 ? first + INT32_MAX + 1 : first));
}

void ProducerEntry::push(const ProducedBatch& batch) {
  if (count_ == kMostBatches) {
    std::move(batches_.begin() + 1, batches_.end(), batches_.begin());
    --count_;
  }
  batches_[count_++] = batch;
}

void ProducerEntry::set_epoch(std::int16_t next) {
  if (next == epoch) return;
  epoch = next;
  count_ = 0;
}

const ProducerEntry* ProducerState::find(ProducerId id) const {
  const auto at = producers_.find(id);
  return at == producers_.end() ? nullptr : &at->second;
}

ProducerState::Step ProducerState::add(ByteView unit, const UnitInfo& info) {
  // KRaft's control batches have no producer.
  if (info.producer_id.value() < 0) return {};
  return info.control ? add_marker(unit, info) : add_data(info);
}

ProducerState::Step ProducerState::add_data(const UnitInfo& info) {
  Step step;
  ProducerEntry& entry = producers_[info.producer_id];
  if (info.producer_epoch < entry.epoch) step.oddity = "a batch of an older producer epoch";
  entry.set_epoch(info.producer_epoch);
  const auto delta = static_cast<std::int32_t>(info.last_offset - info.base_offset);
  entry.push({info.last_sequence(), info.last_offset, delta, info.max_timestamp});
  entry.last_timestamp = info.max_timestamp;
  if (info.transactional) {
    if (!entry.transaction_first) entry.transaction_first = info.base_offset;
  } else if (entry.transaction_first) {
    step.oddity = "a batch outside a transaction while its producer has one open";
  }
  return step;
}

void ProducerState::Run::add(Offset first, std::int32_t offsets, std::int64_t max_timestamp) {
  entry_.set_epoch(fields_.epoch);
  const std::int32_t last = sequence_after(next_, offsets - 1);
  entry_.push({last, first + (offsets - 1), offsets - 1, max_timestamp});
  next_ = sequence_after(last, 1);
  entry_.last_timestamp = max_timestamp;
  if (fields_.transactional && !entry_.transaction_first) entry_.transaction_first = first;
}

ProducerState::Step ProducerState::add_marker(ByteView unit, const UnitInfo& info) {
  if (info.count == 0) return {};
  const std::optional<Marker> marker = marker_of(unit, info);
  if (!marker) return {};
  Step step;
  ProducerEntry& entry = producers_[info.producer_id];
  if (info.producer_epoch < entry.epoch) step.oddity = "an end marker of an older producer epoch";
  if (entry.transaction_first) {
    step.ended =
        EndedTransaction{info.producer_id, *entry.transaction_first, info.last_offset, marker->aborted};
  }
  entry.set_epoch(info.producer_epoch);
  if (marker->coordinator_epoch) entry.coordinator_epoch = *marker->coordinator_epoch;
  entry.last_timestamp = marker->timestamp;
  entry.transaction_first.reset();
  return step;
}

void ProducerState::encode_snapshot(Buffer& out) const {
  std::vector<ProducerId> ids;
  ids.reserve(producers_.size());
  for (const auto& [id, entry] : producers_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());

  const std::size_t size = kHead + ids.size() * kEntry;
  std::uint8_t* const file = out.room(size);
  store_be<std::int16_t>(file, kVersion);
  store_be<std::int32_t>(file + kCovered, static_cast<std::int32_t>(ids.size()));
  std::uint8_t* to = file + kHead;
  for (const ProducerId id : ids) {
    encode_entry(to, id, producers_.at(id));
    to += kEntry;
  }
  store_be<std::uint32_t>(file + kCrcAt, crc32c({file + kCovered, size - kCovered}));
  out.commit(size);
}

Fault ProducerState::decode_snapshot(ByteView file) {
  clear();
  const auto size = static_cast<std::int64_t>(file.size());
  if (file.size() < kCrcAt)
    return {FaultKind::bad_length, "the snapshot is shorter than its version", size, kHead};
  const auto version = load_be<std::int16_t>(file.data());
  if (version != kVersion)
    return {FaultKind::bad_magic, "unknown version of the snapshot", version, kVersion};
  if (file.size() < kHead)
    return {FaultKind::bad_length, "the snapshot is shorter than its header", size, kHead};
  const auto stored = load_be<std::uint32_t>(file.data() + kCrcAt);
  const std::uint32_t computed = crc32c(file.subspan(kCovered));
  if (stored != computed)
    return {FaultKind::bad_crc, "the snapshot's CRC-32C does not match", stored, computed};
  const auto count = load_be<std::int32_t>(file.data() + kCovered);
  const std::int64_t expected =
      static_cast<std::int64_t>(kHead) + std::int64_t{count} * static_cast<std::int64_t>(kEntry);
  if (count < 0 || expected != size) {
    return {FaultKind::bad_length, "the snapshot's length does not match its count", size, expected};
  }
  producers_.reserve(static_cast<std::size_t>(count));
  for (std::size_t at = kHead; at < file.size(); at += kEntry) {
    const ProducerId id(load_be<std::int64_t>(file.data() + at));
    producers_.insert_or_assign(id, decode_entry(file.data() + at));
  }
  return {};
}

std::string write_producer_snapshot(FileSystem& fs, const std::string& directory, Offset end,
                                    const ProducerState& state, bool durable) {
  Buffer content;
  state.encode_snapshot(content);
  std::string path = join_path(directory, segment_file_name(end, kSnapshotSuffix));
  replace_atomically(fs, path, content.view(), durable);
  return path;
}

}  // namespace tk
