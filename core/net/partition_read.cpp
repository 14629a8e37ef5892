// The readers' side of a partition: opening it, following what other processes do, finding offsets.
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "core/format/checkpoint_file.h"
#include "core/log/log_files.h"
#include "core/log/producer_history.h"
#include "core/log/segment_lookup.h"
#include "core/log/segment_names.h"
#include "core/log/tail_scan.h"
#include "core/net/failure.h"
#include "core/net/partition.h"
#include "core/net/unit_heads.h"
#include "core/store/topic_probe.h"

namespace tk::net {
namespace {

/// What costs less to copy than to send from the file.
constexpr std::uint64_t kCopied = 16U << 10;
/// Heads that the loop looks at to know where the next fetch begins.
constexpr int kMostSteps = 80;

/// Reads without waiting for the disk; false if all of it is not in memory.
bool read_now(File& file, std::uint64_t position, MutableBytes to) {
  const int number = file.descriptor();
  if (number < 0) return file.read_at(position, to) == to.size();
  iovec part{to.data(), to.size()};
  ssize_t got = ::preadv2(number, &part, 1, static_cast<off_t>(position), RWF_NOWAIT);
  // A file system without it: the loop may have to wait.
  if (got < 0 && errno == EOPNOTSUPP)
    got = ::pread(number, to.data(), to.size(), static_cast<off_t>(position));
  return got == static_cast<ssize_t>(to.size());
}

LeaderEpochs read_epochs(FileSystem& fs, const std::string& directory) {
  const std::string path = join_path(directory, kLeaderEpochFile);
  if (!fs.stat(path)) return {};
  const LeaderEpochCheckpoint checkpoint = parse_leader_epoch_checkpoint(read_whole(fs, path));
  return checkpoint.fault ? LeaderEpochs() : LeaderEpochs(checkpoint.entries);
}

std::vector<TxnIndexEntry> read_txn_index(FileSystem& fs, const SegmentFile& segment) {
  std::vector<TxnIndexEntry> entries;
  const std::string path = segment.beside(kTxnIndexSuffix);
  if (!segment.has_txn_index || !fs.stat(path)) return entries;
  const std::string text = read_whole(fs, path);
  const ByteView bytes = as_bytes(text);
  for (std::size_t at = 0; bytes.size() - at >= TxnIndexEntry::kSize; at += TxnIndexEntry::kSize) {
    const std::uint8_t* const entry = bytes.data() + at;
    entries.push_back({ProducerId(load_be<std::int64_t>(entry + 2)),
                       Offset(load_be<std::int64_t>(entry + 10)), Offset(load_be<std::int64_t>(entry + 18)),
                       Offset(load_be<std::int64_t>(entry + 26))});
  }
  return entries;
}

}  // namespace

LogView Partition::view() const {
  if (!host_.fs.stat(info_.directory)) {
    LogView empty;
    empty.files.directory = info_.directory;
    return empty;
  }
  return open_log_view(host_.fs, info_.directory, host_.checkpointed_start(info_));
}

LogView Partition::known_view() const {
  LogView view;
  const std::lock_guard lock(mutex_);
  view.files.directory = info_.directory;
  for (const Segment& segment : segments_) view.files.segments.push_back(segment.file);
  view.log_start = start_;
  view.log_end = end_;
  if (!segments_.empty()) view.last_segment_end = segments_.back().file.size;
  return view;
}

// ---- opening

void Partition::when_open(std::function<void()> then) {
  if (is_open()) return then();
  {
    const std::lock_guard lock(mutex_);
    when_open_.push_back(std::move(then));
    if (opening_) return;
    opening_ = true;
  }
  queue_.post([self = shared_from_this()] { self->open_in_queue(); });
}

void Partition::open_in_queue() {
  if (!is_open()) {
    const std::shared_ptr<Error> failed = failure_of([&] {
      load(view());
      if (const auto format = probe_format(host_.fs, info_.directory)) format_.store(*format);
    });
    if (failed) host_.warn(&info_, *failed);
    const std::lock_guard lock(mutex_);
    open_error_ = failed ? std::optional(*failed) : std::nullopt;
    open_.store(!failed);
  }
  host_.loop.post([self = shared_from_this()] {
    std::vector<std::function<void()>> waiting;
    {
      const std::lock_guard lock(self->mutex_);
      waiting.swap(self->when_open_);
      self->opening_ = false;
    }
    if (self->is_open()) self->host_.opened(self);
    for (const auto& then : waiting) then();
  });
}

void Partition::load(const LogView& view) {
  LeaderEpochs epochs = read_epochs(host_.fs, info_.directory);
  std::vector<Segment> segments;
  for (const SegmentFile& file : view.files.segments) segments.push_back({file, nullptr});
  if (!segments.empty()) segments.back().file.size = view.last_segment_end;
  const std::lock_guard lock(mutex_);
  segments_ = std::move(segments);
  recent_.reset();
  start_ = view.log_start;
  end_ = view.log_end;
  epochs_ = std::move(epochs);
  leader_epoch_.store(epochs_.latest().value_or(LeaderEpoch(0)).value());
  known_.fill({});
  ++shape_;
  load_transactions(view);
}

// A partition that tk made has a .txnindex it can trust; elsewhere the log itself says what was aborted.
void Partition::load_transactions(const LogView& view) {
  producers_.clear();
  open_transactions_.clear();
  aborted_.clear();
  if (view.empty() || !Store::may_have_producers(info_, view)) return;
  ProducerHistory history = read_producer_history(host_.fs, view, !info_.tk_made);
  for (const SegmentFile& segment : view.files.segments) {
    if (!info_.tk_made) break;
    for (const TxnIndexEntry& entry : read_txn_index(host_.fs, segment)) {
      if (entry.last < history.from) aborted_.push_back(entry);
    }
  }
  aborted_.insert(aborted_.end(), history.aborted.begin(), history.aborted.end());
  std::ranges::sort(aborted_, {}, &TxnIndexEntry::last);
  producers_ = std::move(history.state);
  for (const auto& [id, entry] : producers_.producers()) {
    if (entry.transaction_first) open_transactions_[id] = *entry.transaction_first;
  }
}

void Partition::take_in(ByteView unit, const UnitInfo& info) {
  if (info.producer_id.value() < 0) return;
  const ProducerState::Step step = producers_.add(unit, info);
  if (const auto entry = txn_index_entry(producers_, step)) aborted_.push_back(*entry);
  const ProducerEntry* const now = producers_.find(info.producer_id);
  if (now != nullptr && now->transaction_first) {
    open_transactions_[info.producer_id] = *now->transaction_first;
  } else {
    open_transactions_.erase(info.producer_id);
  }
}

// ---- asking

Offset Partition::stable_now() const {
  Offset stable = end_;
  for (const auto& [id, first] : open_transactions_) stable = std::min(stable, first);
  return stable;
}

PartitionEdges Partition::edges() const {
  const std::lock_guard lock(mutex_);
  return {start_, end_, stable_now()};
}

LeaderEpochs Partition::leader_epochs() const {
  const std::lock_guard lock(mutex_);
  return epochs_;
}

std::uint64_t Partition::log_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const Segment& segment : segments_) sum += segment.file.size;
  return sum;
}

std::optional<Error> Partition::open_error() const {
  const std::lock_guard lock(mutex_);
  return open_error_;
}

std::vector<TxnIndexEntry> Partition::aborted_between(Offset from, Offset to) const {
  const std::lock_guard lock(mutex_);
  std::vector<TxnIndexEntry> found;
  for (const TxnIndexEntry& entry : aborted_) {
    if (entry.last >= from && entry.first < to) found.push_back(entry);
  }
  std::ranges::sort(found, {}, &TxnIndexEntry::first);
  return found;
}

std::vector<std::pair<ProducerId, ProducerEntry>> Partition::known_producers() const {
  const std::lock_guard lock(mutex_);
  return {producers_.producers().begin(), producers_.producers().end()};
}

// ---- places

Partition::Segment* Partition::segment_at(Offset base) {
  const auto at = std::ranges::lower_bound(segments_, base, {}, [](const Segment& s) { return s.file.base; });
  return at == segments_.end() || at->file.base != base ? nullptr : &*at;
}

// The active segment stays open, and of the others the one that was read last.
std::shared_ptr<File> Partition::file_of(Segment& segment) {
  if (segment.open) return segment.open;
  if (recent_ && recent_->path() == segment.file.log_path) return recent_;
  std::shared_ptr<File> file = host_.fs.open(segment.file.log_path, OpenMode::read);
  if (&segment == &segments_.back()) {
    segment.open = file;
  } else {
    recent_ = file;
  }
  return file;
}

void Partition::remember(Offset offset, const Place& place) {
  known_[static_cast<std::uint64_t>(offset.value()) % known_.size()] = {offset, place};
}

std::optional<Place> Partition::recall(Offset offset) const {
  const Known& known = known_[static_cast<std::uint64_t>(offset.value()) % known_.size()];
  return known.offset == offset ? std::optional(known.place) : std::nullopt;
}

std::optional<Place> Partition::locate(Offset offset) {
  std::vector<SegmentFile> from;
  std::uint64_t shape = 0;
  {
    const std::lock_guard lock(mutex_);
    shape = shape_;
    if (const auto known = recall(offset)) return known;
    if (offset >= end_) return std::nullopt;
    auto at = std::ranges::upper_bound(segments_, offset, {}, [](const Segment& s) { return s.file.base; });
    if (at != segments_.begin()) --at;
    for (; at != segments_.end(); ++at) from.push_back(at->file);
  }
  for (const SegmentFile& segment : from) {
    if (segment.size == 0) continue;
    const std::unique_ptr<File> file = host_.fs.open(segment.log_path, OpenMode::read);
    UnitHeads heads(*file, find_offset(host_.fs, segment, offset).position, segment.size, 8192);
    while (const auto head = heads.next()) {
      if (head->last < offset) continue;
      const Place place{segment.base, head->position, shape};
      const std::lock_guard lock(mutex_);
      if (shape == shape_) remember(offset, place);
      return place;
    }
  }
  return std::nullopt;
}

void Partition::warm(const Place& place, std::uint64_t bytes) {
  std::shared_ptr<File> file;
  std::uint64_t end = 0;
  {
    const std::lock_guard lock(mutex_);
    Segment* const segment = place.shape == shape_ ? segment_at(place.segment) : nullptr;
    if (segment == nullptr) return;
    file = file_of(*segment);
    end = std::min(segment->file.size, place.position + bytes);
  }
  Buffer scratch;
  scratch.resize(256U << 10);
  for (std::uint64_t at = place.position; at < end; at += scratch.size()) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(scratch.size(), end - at));
    if (file->read_at(at, {scratch.data(), size}) < size) return;
  }
}

// ---- slices

std::optional<Partition::Slice> Partition::slice(const Want& want) {
  Slice result;
  std::shared_ptr<File> file;
  Place place;
  std::uint64_t end = 0;
  {
    const std::lock_guard lock(mutex_);
    if (want.offset >= want.below || want.offset >= end_) return result;
    const auto known = want.place ? want.place : recall(want.offset);
    if (!known || known->shape != shape_) return std::nullopt;
    place = *known;
    Segment* const segment = segment_at(place.segment);
    if (segment == nullptr) return std::nullopt;
    end = segment->file.size;
    if (want.below < end_) {
      const auto limit = want.end_place ? want.end_place : recall(want.below);
      if (!limit || limit->shape != shape_) return std::nullopt;
      if (limit->segment == place.segment) end = std::min(end, limit->position);
    }
    if (place.position >= end) return result;
    try {
      file = file_of(*segment);
    } catch (const Error&) {
      return std::nullopt;  // another process took it away: a worker will say so
    }
  }
  std::uint64_t take = std::min(end - place.position, want.max_bytes);
  if (want.whole_first && take < end - place.position) {
    std::array<std::uint8_t, kUnitHead> bytes;
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), end - place.position));
    if (!read_now(*file, place.position, {bytes.data(), size})) return std::nullopt;
    const auto head = read_unit_head({bytes.data(), size}, place.position, end - place.position);
    take = std::max(take, head ? head->size : end - place.position);
  }
  if (take == 0) return result;
  result.bytes = take;
  if (take <= kCopied) {
    Buffer copy;
    copy.resize(static_cast<std::size_t>(take));
    if (!read_now(*file, place.position, {copy.data(), copy.size()})) return std::nullopt;
    result.pieces.push_back(Piece::of(std::move(copy)));
  } else {
    std::uint8_t last = 0;
    if (!read_now(*file, place.position, {&last, 1}) ||
        !read_now(*file, place.position + take - 1, {&last, 1}))
      return std::nullopt;
    result.pieces.push_back(Piece::of(file, place.position, take));
  }
  walk_on(file, place, place.position + take, result);
  return result;
}

// The next fetch begins behind the last whole unit of this one, which is mostly where a unit is cut: its
// place is remembered.
void Partition::walk_on(const std::shared_ptr<File>& file, const Place& from, std::uint64_t to,
                        Slice& slice) {
  std::uint64_t at = from.position;
  std::array<std::uint8_t, kUnitHead> bytes;
  const Buffer* const copy = slice.pieces.front().file ? nullptr : &slice.pieces.front().bytes;
  int step = 0;
  for (; step < kMostSteps && at < to; ++step) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), to - at));
    ByteView view{bytes.data(), size};
    if (copy != nullptr) {
      view = copy->view().subspan(static_cast<std::size_t>(at - from.position), size);
    } else if (!read_now(*file, at, {bytes.data(), size})) {
      return;
    }
    const auto head = read_unit_head(view, at, to - at);
    if (!head) break;
    slice.next = head->last + 1;
    at += head->size;
  }
  if (!slice.next) return;
  const bool whole = at >= to || step < kMostSteps;
  const std::lock_guard lock(mutex_);
  const Segment* const segment = segment_at(from.segment);
  if (segment != nullptr && from.shape == shape_ && at < segment->file.size)
    remember(*slice.next, {from.segment, at, shape_});
  // More units than were looked at: where the slice ends is not known.
  if (!whole) slice.next.reset();
}

// ---- other processes

void Partition::noticed(bool listed) {
  if (deleted_ || !is_open()) return;
  if (!listed) {
    // Mostly it was our own writer.
    const std::lock_guard lock(mutex_);
    if (!segments_.empty() && size_on_disk(segments_.back()) == segments_.back().file.size) return;
  }
  if (listed) listing_pending_.store(true);
  if (look_pending_.exchange(true)) return;
  queue_.post([self = shared_from_this()] {
    self->look_pending_.store(false);
    self->look_again(self->listing_pending_.exchange(false));
  });
}

std::optional<std::uint64_t> Partition::size_on_disk(const Segment& segment) const {
  if (segment.open) return segment.open->size();
  const auto stat = host_.fs.stat(segment.file.log_path);
  return stat && segment.file.is(*stat) ? std::optional(stat->size) : std::nullopt;
}

void Partition::look_again(bool listed) {
  if (deleted_) return;
  try {
    SegmentFile active;
    bool there = false;
    {
      const std::lock_guard lock(mutex_);
      there = !segments_.empty();
      if (there) active = segments_.back().file;
    }
    const auto stat = there ? host_.fs.stat(active.log_path) : std::nullopt;
    bool same_shape = stat && active.is(*stat) && stat->size >= active.size;
    if (same_shape && (listed || stat->size == active.size)) {
      const PartitionFiles files = list_partition(host_.fs, info_.directory);
      const std::lock_guard lock(mutex_);
      same_shape = std::ranges::equal(files.segments, segments_, [](const SegmentFile& a, const Segment& b) {
        return a.base == b.file.base && (a.inode == b.file.inode || b.file.inode == 0) &&
               a.log_path == b.file.log_path;
      });
    }
    if (!same_shape) {
      load(view());
      return changed();
    }
    if (stat->size == active.size) return;
    take_in_tail(active, stat->size);
  } catch (const Error& error) {
    if (!host_.fs.stat(info_.directory)) return;  // deleted: the catalog will say so
    host_.warn(&info_, error);
  }
  changed();
}

// Scans what lies behind the known end of the active segment. The mutex is held only to take in what was
// found.
void Partition::take_in_tail(SegmentFile active, std::uint64_t size) {
  struct Found {
    UnitInfo info;
    Buffer marker;
  };
  const std::uint64_t known = std::exchange(active.size, size);
  const ScanRange range{
      .position = known, .end = size, .segment_base = active.base, .after = edges().end - 1, .below = {}};
  std::vector<Found> of_producers;
  std::optional<std::uint64_t> first;
  const TailScan scan =
      scan_to_end(host_.fs, active, range, [&](ByteView unit, UnitKind kind, std::uint64_t position) {
        if (!first) first = position;
        UnitInfo info;
        if (read_unit_info(unit, kind, info) || info.producer_id.value() < 0) return;
        Found& found = of_producers.emplace_back();
        found.info = info;
        if (info.control) found.marker.append(unit);
      });
  const std::lock_guard lock(mutex_);
  if (segments_.empty() || segments_.back().file.base != active.base) return;
  if (first) remember(end_, {active.base, *first, shape_});
  for (const Found& found : of_producers) take_in(found.marker.view(), found.info);
  segments_.back().file.size = scan.tail_size > 0 ? scan.tail_position : size;
  end_ = std::max(end_, scan.next_offset);
}

void Partition::look_for_start() {
  if (!is_open()) return;
  queue_.post([self = shared_from_this()] {
    const auto start = self->host_.checkpointed_start(self->info_);
    if (!start) return;
    {
      const std::lock_guard lock(self->mutex_);
      if (*start <= self->start_ || *start > self->end_) return;
      self->start_ = *start;
    }
    self->changed();
  });
}

void Partition::deleted() {
  deleted_.store(true);
  {
    const std::lock_guard lock(mutex_);
    segments_.clear();
    recent_.reset();
  }
  queue_.post([self = shared_from_this()] { self->log_.reset(); });
  waiters_.wake_all(host_.loop, shared_from_this());
}

// From any thread; wakes come together.
void Partition::changed() {
  if (wake_pending_.exchange(true)) return;
  host_.loop.post([self = shared_from_this()] {
    self->wake_pending_.store(false);
    self->waiters_.wake_all(self->host_.loop, self);
  });
}

}  // namespace tk::net
