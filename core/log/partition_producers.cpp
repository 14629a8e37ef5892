#include "core/log/partition_producers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/log/segment_names.h"

namespace tk {
namespace {

Offset last_of_entry(const std::uint8_t* entry) {
  return Offset(load_be<std::int64_t>(entry + 18));
}

}  // namespace

void PartitionProducers::load(const LogView& view) {
  ProducerHistory history = read_producer_history(fs_, view);
  if (!view.empty()) settle_txn_index(view.files.segments.back(), history);
  state_ = std::move(history.state);
  waiting_.clear();
  saved_position_ = 0;
  const auto& snapshots = view.files.snapshots;
  if (!snapshots.empty() && snapshots.back() == history.from) {
    saved_ = history.from;
    return;
  }
  write_producer_snapshot(fs_, directory_, view.log_end, state_);
  saved_ = view.log_end;
  if (snapshots.empty() && state_.empty()) first_ = saved_;
  for (const Offset broken : snapshots) {
    if (broken > history.from && broken != *saved_)
      fs_.remove(join_path(directory_, segment_file_name(broken, kSnapshotSuffix)));
  }
}

// What lies below the snapshot was on disk before it. What the log says from there on is held against the
// file, which may lack it, or speak of markers that were cut.
void PartitionProducers::settle_txn_index(const SegmentFile& active, const ProducerHistory& history) {
  const std::string path = active.beside(kTxnIndexSuffix);
  std::string there;
  if (fs_.stat(path)) there = read_whole(fs_, path);
  Buffer expected;
  const ByteView bytes = as_bytes(there);
  Offset before = active.base - 1;
  for (std::size_t at = 0; at + TxnIndexEntry::kSize <= bytes.size(); at += TxnIndexEntry::kSize) {
    const Offset last = last_of_entry(bytes.data() + at);
    // What does not rise is no entry: a power cut may leave zeros.
    if (last >= history.from || last <= before) break;
    expected.append(bytes.subspan(at, TxnIndexEntry::kSize));
    before = last;
  }
  for (const TxnIndexEntry& entry : history.aborted) {
    if (entry.last >= active.base) entry.append_to(expected);
  }
  txn_index_unforced_ = !history.aborted.empty();
  if (as_text(expected.view()) == there) return;
  if (expected.empty()) {
    fs_.remove(path);
  } else {
    replace_atomically(fs_, path, expected.view());
  }
}

void PartitionProducers::add(ByteView unit, const UnitInfo& info) {
  const ProducerState::Step step = state_.add(unit, info);
  if (const auto entry = txn_index_entry(state_, step)) waiting_.push_back(*entry);
}

void PartitionProducers::write_txn_index(const SegmentFile& active, bool forced) {
  if (waiting_.empty() && !(forced && txn_index_unforced_)) return;
  const auto file = fs_.open(active.beside(kTxnIndexSuffix), OpenMode::create);
  const std::uint64_t whole = file->size() / TxnIndexEntry::kSize * TxnIndexEntry::kSize;
  Offset last(-1);
  if (whole > 0) {
    std::array<std::uint8_t, TxnIndexEntry::kSize> entry{};
    file->read_at(whole - TxnIndexEntry::kSize, entry);
    last = last_of_entry(entry.data());
  }
  Buffer entries;
  for (const TxnIndexEntry& entry : waiting_) {
    if (entry.last > last) entry.append_to(entries);
  }
  if (!entries.empty()) file->write_at(whole, entries.view());
  waiting_.clear();
  txn_index_unforced_ = !forced;
  if (!forced) return;
  file->sync();
  fs_.sync_directory(directory_);
}

// The old one goes when the new one is on disk: there is one at every moment.
void PartitionProducers::save(Offset end, Offset active_base, bool durable) {
  if (saved_ == end) return;
  write_producer_snapshot(fs_, directory_, end, state_, durable);
  const auto before = std::exchange(saved_, end);
  const bool first = first_ && first_ == before;
  first_.reset();
  if (durable && before && (first || *before > active_base)) {
    fs_.remove(join_path(directory_, segment_file_name(*before, kSnapshotSuffix)));
  }
}

void remove_snapshots_beyond(FileSystem& fs, const std::string& directory,
                             const std::vector<Offset>& snapshots, Offset log_end) {
  bool any = false;
  for (const Offset offset : snapshots) {
    if (offset <= log_end) continue;
    fs.remove(join_path(directory, segment_file_name(offset, kSnapshotSuffix)));
    any = true;
  }
  if (any) fs.sync_directory(directory);
}

}  // namespace tk
