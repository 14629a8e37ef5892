#include "core/log/segment_scanner.h"

#include <algorithm>

#include "core/base/crc.h"
#include "core/format/batch.h"

namespace tk {
namespace {

/// A unit larger than this is summed in pieces before it is read whole: its length may be what is damaged.
constexpr std::uint64_t kLargeUnit = 8U << 20;
constexpr std::size_t kSearchWindow = 1U << 20;
/// Bytes that a unit's head needs to be framed.
constexpr std::size_t kHeadBytes = kBatchHeader;
/// How far an offset may lie above its segment's base; beyond, it cannot be indexed (kafka-on-disk.md §5.1).
constexpr std::int64_t kMaxRelativeOffset = INT32_MAX;

std::size_t read_at(File& file, std::uint64_t position, MutableBytes to) { return file.read_at(position, to); }

bool all_zero(ByteView bytes) {
  if (bytes.empty()) return true;
  return bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace

struct SegmentScanner::Head {
  Offset first;        // of a legacy unit: its only known offset
  Offset last;
  Offset last_record;  // by the record count of a batch that was not compacted
};

namespace {

template <class Head>
Head head_of(ByteView unit, UnitKind kind) {
  Head head;
  head.first = head.last = head.last_record = Offset(load_be<std::int64_t>(unit.data()));
  if (kind == UnitKind::batch && unit.size() >= kBatchHeader) {
    const auto delta = load_be<std::int32_t>(unit.data() + batch_layout::kLastOffsetDelta);
    const auto count = load_be<std::int32_t>(unit.data() + batch_layout::kCount);
    head.last = head.first + std::max(delta, 0);
    head.last_record = std::min(head.last, head.first + std::max(count - 1, 0));
  }
  return head;
}

}  // namespace

SegmentScanner::SegmentScanner(File& file, const ScanRange& range, std::size_t chunk_bytes)
    : file_(file), range_(range), chunk_bytes_(chunk_bytes), position_(range.position), last_(range.after) {}

bool SegmentScanner::next(ScanChunk& chunk) {
  chunk.stretches.clear();
  chunk.bytes.clear();
  if (done_ || position_ >= range_.end) return false;
  const std::uint64_t wanted = std::min<std::uint64_t>(chunk_bytes_, range_.end - position_);
  chunk_position_ = position_;
  // Padding behind the bytes lets decoders over-read in wide steps.
  chunk.bytes.room(wanted + 64);
  chunk.bytes.commit(read_at(file_, position_, {chunk.bytes.data(), wanted}));
  if (chunk.bytes.size() < wanted) range_.end = position_ + chunk.bytes.size();  // the file shrank under us

  std::size_t at = 0;
  while (!done_) {
    const ByteView window = chunk.bytes.view().subspan(at);
    const std::uint64_t remaining = range_.end - (chunk_position_ + at);
    if (remaining == 0) break;
    const Frame frame = frame_unit(window, remaining);
    Step step = Step::go_on;
    if (frame.status == FrameStatus::whole) {
      step = take_unit(chunk, at, frame);
    } else if (frame.status == FrameStatus::need_more) {
      if (at > 0) {
        give_back_bad_last(chunk, at);
        break;
      }
      step = read_large_unit(chunk, at, frame);
    } else {
      step = handle_unframed(chunk, at, frame);
    }
    position_ = std::max(position_, chunk_position_ + at);
    if (step == Step::chunk_done) return !chunk.stretches.empty() || !done_;
  }
  position_ = std::max(position_, chunk_position_ + at);
  return !chunk.stretches.empty();
}

// A unit that does not fit the chunk: the chunk grows to hold it, unless its checksum says that its length is wrong.
SegmentScanner::Step SegmentScanner::read_large_unit(ScanChunk& chunk, std::size_t& at, const Frame& frame) {
  const std::uint64_t size = std::max<std::uint64_t>(frame.size, kHeadBytes);
  const std::uint64_t wanted = std::min(size, range_.end - chunk_position_);
  if (size > kLargeUnit && !good_unit_at(chunk_position_, Offset(INT64_MIN))) {
    const Fault fault{FaultKind::bad_crc, "checksum mismatch of a unit of unusual length",
                      static_cast<std::int64_t>(frame.size), 0};
    return damage_until_next_good(chunk, chunk_position_, at, fault, frame);
  }
  const std::size_t held = chunk.bytes.size();
  std::uint8_t* to = chunk.bytes.room(wanted - held + 64);
  chunk.bytes.commit(read_at(file_, chunk_position_ + held, {to, wanted - held}));
  if (chunk.bytes.size() < wanted) range_.end = chunk_position_ + chunk.bytes.size();
  return Step::go_on;
}

SegmentScanner::Step SegmentScanner::take_unit(ScanChunk& chunk, std::size_t& at, const Frame& frame) {
  const ByteView unit = chunk.bytes.view().subspan(at, frame.size);
  const Head head = head_of<Head>(unit, frame.kind);
  Fault remark;
  if (head.first <= last_ || (frame.kind != UnitKind::batch && head.last <= last_)) {
    if (previous_is_bad(chunk)) {
      // The unit before claims offsets that it may not have: it is the damaged one.
      last_ = previous_.before;
      drop_previous(chunk);
      return Step::go_on;
    }
    const Fault fault{FaultKind::offset_regression, "offset does not rise", head.first.value(), last_.value() + 1};
    if (!previous_.there || head.first <= previous_.last_record) {
      add_damage(chunk, chunk_position_ + at, chunk_position_ + at + frame.size, fault);
      at += frame.size;
      return Step::go_on;
    }
    remark = fault;
  } else if (head.last < range_.segment_base) {
    add_damage(chunk, chunk_position_ + at, chunk_position_ + at + frame.size,
               {FaultKind::offset_regression, "offset below the segment's base", head.last.value(),
                range_.segment_base.value()});
    at += frame.size;
    return Step::go_on;
  } else if ((range_.below && head.last >= *range_.below) ||
             (head.first > last_ + 1 && contradicted(chunk, at, frame.size, head))) {
    add_damage(chunk, chunk_position_ + at, chunk_position_ + at + frame.size,
               {FaultKind::offset_regression, "offset out of line with what follows", head.first.value(),
                last_.value() + 1});
    at += frame.size;
    return Step::go_on;
  }
  add_units(chunk, at, frame.size, remark);
  previous_ = {chunk_position_ + at, frame.size, frame.kind, last_, head.last_record, true};
  last_ = std::max(last_, head.last);
  at += frame.size;
  return Step::go_on;
}

// True if the unit behind one that leaps ahead continues from before the leap.
bool SegmentScanner::contradicted(const ScanChunk& chunk, std::size_t at, std::uint64_t size, const Head& head) {
  const std::uint64_t next = chunk_position_ + at + size;
  if (next >= range_.end) return false;
  std::uint8_t bytes[kHeadBytes];
  ByteView window = chunk.bytes.view().subspan(at + size);
  if (window.size() < kHeadBytes) window = {bytes, read_at(file_, next, {bytes, std::min<std::uint64_t>(kHeadBytes, range_.end - next)})};
  const Frame frame = frame_unit(window, range_.end - next);
  if (frame.status != FrameStatus::whole && frame.status != FrameStatus::need_more) return false;
  if (window.size() < kUnitPrefix) return false;
  const Head behind = head_of<Head>(window, frame.kind);
  return behind.first > last_ && behind.first <= head.last && good_unit_at(next, last_);
}

bool SegmentScanner::previous_is_bad(const ScanChunk& chunk) {
  if (!previous_.there) return false;
  if (previous_.position >= chunk_position_) {
    const ByteView unit = chunk.bytes.view().subspan(previous_.position - chunk_position_, previous_.size);
    return static_cast<bool>(check_unit(unit, previous_.kind));
  }
  return !good_unit_at(previous_.position, Offset(INT64_MIN));
}

// Takes the unit before out of the stretches, as damage. One that went out with an earlier chunk is found bad there.
void SegmentScanner::drop_previous(ScanChunk& chunk) {
  previous_.there = false;
  if (previous_.position < chunk_position_ || chunk.stretches.empty()) return;
  Stretch& last = chunk.stretches.back();
  last.size -= previous_.size;
  if (last.size == 0) chunk.stretches.pop_back();
  add_damage(chunk, previous_.position, previous_.position + previous_.size,
             {FaultKind::bad_crc, "checksum mismatch", 0, 0});
}

// The unit that ends a chunk may have led here by a wrong length. If its sum is bad it goes to the next chunk, so that
// it is at hand when what follows does not add up.
void SegmentScanner::give_back_bad_last(ScanChunk& chunk, std::size_t& at) {
  if (previous_.position <= chunk_position_ || !previous_is_bad(chunk)) return;
  Stretch& last = chunk.stretches.back();
  last.size -= previous_.size;
  if (last.size == 0) chunk.stretches.pop_back();
  last_ = previous_.before;
  previous_.there = false;
  at = previous_.position - chunk_position_;
}

void SegmentScanner::add_units(ScanChunk& chunk, std::size_t at, std::uint64_t size, const Fault& remark) {
  if (!remark && !chunk.stretches.empty()) {
    Stretch& last = chunk.stretches.back();
    if (last.kind == StretchKind::units && last.at + last.size == at) {
      last.size += size;
      return;
    }
  }
  chunk.stretches.push_back({StretchKind::units, chunk_position_ + at, size, at, last_, remark});
}

void SegmentScanner::add_damage(ScanChunk& chunk, std::uint64_t from, std::uint64_t to, const Fault& fault) {
  chunk.stretches.push_back({StretchKind::damage, from, to - from, 0, last_, fault});
}

SegmentScanner::Step SegmentScanner::handle_unframed(ScanChunk& chunk, std::size_t& at, const Frame& frame) {
  std::uint64_t from = chunk_position_ + at;
  Fault fault = frame.fault;
  if (frame.status == FrameStatus::cut) {
    fault = {FaultKind::torn_tail, "the file ends inside a unit", static_cast<std::int64_t>(frame.size),
             static_cast<std::int64_t>(range_.end - from)};
  }
  if (previous_is_bad(chunk) && previous_.position >= chunk_position_) {
    // The unit before may have led here by a wrong length: look behind its own first byte.
    Stretch& last = chunk.stretches.back();
    last.size -= previous_.size;
    if (last.size == 0) chunk.stretches.pop_back();
    last_ = previous_.before;
    previous_.there = false;
    from = previous_.position;
    fault = {FaultKind::bad_crc, "checksum mismatch", 0, 0};
  }
  return damage_until_next_good(chunk, from, at, fault, frame);
}

SegmentScanner::Step SegmentScanner::damage_until_next_good(ScanChunk& chunk, std::uint64_t from, std::size_t& at,
                                                            const Fault& fault, const Frame& frame) {
  const auto good = zeros_to_end(from) ? std::nullopt : find_next_good(from + 1);
  if (!good) {
    add_tail(chunk, from, fault, frame);
    position_ = from;
    at = from - chunk_position_;
    done_ = true;
    return Step::chunk_done;
  }
  Fault here = fault;
  if (here.kind == FaultKind::torn_tail) here = {FaultKind::bad_length, "length beyond the file", fault.found, fault.expected};
  add_damage(chunk, from, *good, here);
  if (*good < chunk_position_ + chunk.bytes.size()) {
    at = *good - chunk_position_;
    return Step::go_on;
  }
  position_ = *good;
  at = chunk.bytes.size();
  return Step::chunk_done;
}

void SegmentScanner::add_tail(ScanChunk& chunk, std::uint64_t from, const Fault& fault, const Frame& frame) {
  const std::uint64_t size = range_.end - from;
  if (zeros_to_end(from)) {
    const Fault zeros{FaultKind::zero_tail, "zeros up to the end of the file", static_cast<std::int64_t>(size), 0};
    chunk.stretches.push_back({StretchKind::tail, from, size, 0, last_, zeros});
  } else if (fault.kind == FaultKind::torn_tail && frame.status == FrameStatus::cut && looks_like_next(from)) {
    chunk.stretches.push_back({StretchKind::tail, from, size, 0, last_, fault});
  } else {
    Fault here = fault;
    if (here.kind == FaultKind::torn_tail) here = {FaultKind::bad_length, "no unit follows from here", fault.found, fault.expected};
    add_damage(chunk, from, range_.end, here);
  }
}

bool SegmentScanner::zeros_to_end(std::uint64_t from) {
  for (std::uint64_t at = from; at < range_.end;) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kSearchWindow, range_.end - at));
    scratch_.resize(size);
    const std::size_t got = read_at(file_, at, {scratch_.data(), size});
    if (!all_zero({scratch_.data(), got})) return false;
    if (got < size) break;
    at += got;
  }
  return true;
}

// A torn unit has the head of the next record, as far as it is there: its offset, then a length and a magic or brace
// that framing has found sane.
bool SegmentScanner::looks_like_next(std::uint64_t from) {
  std::uint8_t head[8] = {};
  const std::size_t size = read_at(file_, from, {head, static_cast<std::size_t>(std::min<std::uint64_t>(8, range_.end - from))});
  std::uint8_t expected[8];
  store_be<std::int64_t>(expected, last_.value() + 1);
  if (size < 8) return std::memcmp(head, expected, size) == 0 || load_be<std::uint32_t>(head) == load_be<std::uint32_t>(expected);
  const Offset offset(load_be<std::int64_t>(head));
  return offset > last_ && offset - range_.segment_base <= kMaxRelativeOffset;
}

// True if a whole unit with a good checksum and an offset above `after` begins here. Large ones are summed in pieces.
bool SegmentScanner::good_unit_at(std::uint64_t position, Offset after) {
  std::uint8_t head[kHeadBytes];
  const std::uint64_t remaining = range_.end - position;
  const std::size_t got = read_at(file_, position, {head, static_cast<std::size_t>(std::min<std::uint64_t>(kHeadBytes, remaining))});
  if (got < kUnitPrefix) return false;
  Frame frame = frame_unit({head, got}, remaining);
  if (frame.status != FrameStatus::whole && frame.status != FrameStatus::need_more) return false;
  if (Offset(load_be<std::int64_t>(head)) <= after) return false;
  if (frame.kind == UnitKind::batch && frame.size > kLargeUnit) {
    Buffer piece;
    piece.resize(kSearchWindow);
    std::uint32_t sum = 0;
    for (std::uint64_t at = batch_layout::kAttributes; at < frame.size;) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kSearchWindow, frame.size - at));
      if (read_at(file_, position + at, {piece.data(), size}) < size) return false;
      sum = crc32c({piece.data(), size}, sum);
      at += size;
    }
    return sum == load_be<std::uint32_t>(head + batch_layout::kCrc);
  }
  Buffer unit;
  unit.resize(frame.size);
  if (read_at(file_, position, {unit.data(), unit.size()}) < unit.size()) return false;
  frame = frame_unit(unit.view(), remaining);
  return frame.status == FrameStatus::whole && !check_unit(unit.view(), frame.kind);
}

// Searches byte by byte. A place is looked at closer only if its offset, length and magic (or brace) are possible, and
// summing is bounded, so that a file made to mislead costs time in proportion to its size.
std::optional<std::uint64_t> SegmentScanner::find_next_good(std::uint64_t from) {
  const Offset limit = range_.below.value_or(range_.segment_base + kMaxRelativeOffset);
  std::uint64_t budget = 16 * (range_.end - from) + (1U << 20);
  Buffer window;
  for (std::uint64_t start = from; start + kUnitPrefix < range_.end;) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kSearchWindow + kHeadBytes, range_.end - start));
    window.resize(size);
    const std::size_t got = read_at(file_, start, {window.data(), size});
    if (got <= kMagicPosition) return std::nullopt;
    const std::size_t candidates = std::min(kSearchWindow, got - kMagicPosition);
    for (std::size_t i = 0; i < candidates; ++i) {
      const std::uint8_t* at = window.data() + i;
      if (at[kMagicPosition] > 2 && at[kUnitPrefix] != '{') continue;
      const Offset offset(load_be<std::int64_t>(at));
      if (offset <= last_ || offset > limit) continue;
      const Frame frame = frame_unit({at, got - i}, range_.end - (start + i));
      if (frame.status != FrameStatus::whole && frame.status != FrameStatus::need_more) continue;
      if (frame.size > budget) continue;
      budget -= frame.size;
      if (good_unit_at(start + i, last_)) return start + i;
    }
    if (got < size) return std::nullopt;
    start += candidates;
  }
  return std::nullopt;
}

}  // namespace tk
