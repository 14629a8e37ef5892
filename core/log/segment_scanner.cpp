#include "core/log/segment_scanner.h"

#include <algorithm>
#include <utility>

#include "core/base/crc.h"
#include "core/format/batch.h"

namespace tk {
namespace {

/// A unit larger than this is summed in pieces before it is read whole: its length may be what is damaged.
constexpr std::uint64_t kLargeUnit = 8U << 20;
/// Bytes that a unit's head needs to be framed.
constexpr std::size_t kHeadBytes = kBatchHeader;
/// How far an offset may lie above its segment's base; beyond, it cannot be indexed (kafka-on-disk.md §5.1).
constexpr std::int64_t kMaxRelativeOffset = INT32_MAX;

}  // namespace

struct SegmentScanner::Head {
  Offset first;  // of a legacy unit: its only known offset
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
    head.last_record = std::min(head.last, head.first + std::max(count, 1) - 1);
  }
  return head;
}

}  // namespace

SegmentScanner::SegmentScanner(File& file, const ScanRange& range, std::size_t chunk_bytes,
                               std::shared_ptr<ReadAhead> ahead)
    : file_(file),
      range_(range),
      chunk_bytes_(chunk_bytes),
      position_(range.position),
      last_(range.after),
      search_(file, range.position, std::max(range.position, range.end)),
      ahead_(std::move(ahead)) {
  if (ahead_) ahead_->passed(position_);
}

// The chunk's bytes begin where the scan is, unless what was read ahead for it holds that place.
void SegmentScanner::begin_chunk(ScanChunk& chunk) {
  const AheadBytes ahead = std::exchange(chunk.ahead, {});
  const bool of_use = ahead_ && ahead.of == ahead_ && ahead.position <= position_ &&
                      position_ - ahead.position < chunk.bytes.size();
  chunk_position_ = of_use ? ahead.position : position_;
  chunk_begin_ = position_;
  if (of_use) return;
  chunk.bytes.clear();
  read_to(chunk, chunk_bytes_);
}

bool SegmentScanner::next(ScanChunk& chunk) {
  chunk.stretches.clear();
  if (done_ || position_ >= range_.end) {
    chunk.bytes.clear();
    return false;
  }
  begin_chunk(chunk);
  std::size_t at = chunk_begin_ - chunk_position_;
  for (Step step = Step::go_on; step == Step::go_on && !done_ && chunk_position_ + at < range_.end;) {
    at = pass_in_line(chunk, at);
    if (chunk_position_ + at >= range_.end) break;
    const ByteView window = chunk.bytes.view().subspan(std::min(at, chunk.bytes.size()));
    const Frame frame = frame_unit(window, range_.end - (chunk_position_ + at));
    if (frame.status == FrameStatus::whole) {
      step = take_unit(chunk, at, frame);
    } else if (frame.status == FrameStatus::need_more) {
      step = read_on(chunk, at, frame);
    } else if (frame.status == FrameStatus::cut) {
      const auto left = static_cast<std::int64_t>(range_.end - (chunk_position_ + at));
      step = handle_unframed(
          chunk, at,
          {FaultKind::torn_tail, "the file ends inside a unit", static_cast<std::int64_t>(frame.size), left});
    } else {
      step = handle_unframed(chunk, at, frame.fault);
    }
  }
  position_ = chunk_position_ + at;
  if (ahead_) ahead_->passed(position_);
  return !chunk.stretches.empty() || (!done_ && position_ < range_.end);
}

// What pass_in_line() does, for json records behind one: there are many more of them than of batches. True if
// there was one; `size` and `last` are then those of the last.
bool SegmentScanner::pass_json(const std::uint8_t* bytes, std::size_t& at, std::size_t end, std::size_t& size,
                               Offset& last) const {
  const std::size_t begin = at;
  const std::int64_t below = range_.below ? range_.below->value() : INT64_MAX;
  std::int64_t next = last.value() + 1;
  while (end - at >= kHeadBytes && next < below) {
    const std::uint8_t* const unit = bytes + at;
    const auto length = load_be<std::int32_t>(unit + 8);
    const std::size_t whole = kUnitPrefix + static_cast<std::size_t>(length);
    if (length < kMinBatchLength || whole > end - at || load_be<std::int64_t>(unit) != next ||
        unit[kMagicPosition] <= 2 || unit[kUnitPrefix] != '{' || unit[whole - 1] != '}')
      break;
    size = whole;
    at += whole;
    ++next;
  }
  last = Offset(next - 1);
  return at != begin;
}

// Passes units as nearly all are: whole, each right behind the one before by its place and by its offset,
// within the segment's bounds. What is anything else is left to take_unit(), which would have taken these,
// too.
std::size_t SegmentScanner::pass_in_line(ScanChunk& chunk, std::size_t at) {
  const std::uint8_t* const bytes = chunk.bytes.data();
  const std::size_t end = chunk.bytes.size();
  const std::size_t begin = at;
  Offset before = last_, last = last_;
  std::size_t size = 0;
  Head head;
  UnitKind kind = UnitKind::batch;
  while (at < end && end - at >= kHeadBytes) {
    const std::uint8_t* const unit = bytes + at;
    const auto length = load_be<std::int32_t>(unit + 8);
    if (length < kMinBatchLength) break;
    const std::size_t whole = kUnitPrefix + static_cast<std::size_t>(length);
    const Offset first(load_be<std::int64_t>(unit));
    if (whole > end - at || first - last != 1 || first < range_.segment_base) break;
    const std::uint8_t magic = unit[kMagicPosition];
    if (magic != 2 && (magic < 2 || unit[kUnitPrefix] != '{' || unit[whole - 1] != '}')) break;
    const UnitKind it = magic == 2 ? UnitKind::batch : UnitKind::json;
    // A json record behind something else may be no record at all.
    const bool first_of_all = at == begin && !previous_.there;
    if (!first_of_all && it != (at == begin ? previous_.kind : kind)) break;
    const Head found = head_of<Head>({unit, whole}, it);
    if (range_.below && found.last >= *range_.below) break;
    kind = it;
    head = found;
    size = whole;
    before = last;
    last = head.last;
    at += whole;
    if (kind == UnitKind::json && pass_json(bytes, at, end, size, last)) {
      before = last - 1;
      head = {last, last, last};
    }
  }
  if (at == begin) return at;
  add_units(chunk, begin, at - begin, {});
  search_.saw(kind);
  previous_ = {chunk_position_ + at - size, size, kind, before, head.last_record, true, std::nullopt};
  last_ = last;
  return at;
}

// Makes the chunk hold `size` bytes if the file has them, with padding behind them for decoders that
// over-read in wide steps.
void SegmentScanner::read_to(ScanChunk& chunk, std::uint64_t size) {
  const std::uint64_t wanted = std::min(size, range_.end - chunk_position_);
  const std::size_t held = chunk.bytes.size();
  if (wanted <= held) return;
  std::uint8_t* to = chunk.bytes.room(wanted - held + 64);
  chunk.bytes.commit(file_.read_at(chunk_position_ + held, {to, wanted - held}));
  if (chunk.bytes.size() < wanted) {  // the file shrank under us
    range_.end = chunk_position_ + chunk.bytes.size();
    search_.cut(range_.end);
  }
}

// The chunk's bytes end inside a unit. Mostly the chunk ends before it. Its first unit is read whole, however
// large, unless its checksum says that its length is wrong. And a bad unit must not end a chunk, since it may
// have led here by a wrong length: it goes to the next chunk, or if it is the only one, what follows is
// fetched to be judged.
SegmentScanner::Step SegmentScanner::read_on(ScanChunk& chunk, std::size_t& at, const Frame& frame) {
  const std::uint64_t position = chunk_position_ + at;
  if (position > chunk_begin_ && 2 * at >= chunk.bytes.size()) {
    if (!previous_ends_at(position) || !previous_is_bad(chunk)) return Step::chunk_done;
    if (previous_.position > chunk_begin_) {
      take_back_previous(chunk);
      at = previous_.position - chunk_position_;
      return Step::chunk_done;
    }
  }
  const std::uint64_t size = std::max<std::uint64_t>(frame.size, kHeadBytes);
  if (!search_.affords(position, size) ||
      (size > kLargeUnit && !search_.good_unit_at(position, Offset(INT64_MIN)))) {
    return handle_unframed(chunk, at,
                           {FaultKind::bad_crc, "checksum mismatch of a unit of unusual length",
                            static_cast<std::int64_t>(frame.size), 0});
  }
  if (frame.kind == UnitKind::json && !ends_in_brace(position + size)) {
    return handle_unframed(chunk, at,
                           {FaultKind::bad_length, "json body does not end in a brace",
                            static_cast<std::int64_t>(size - kUnitPrefix), 0});
  }
  read_to(chunk, at + size);
  return Step::go_on;
}

// A look at the last byte, before a json record's claim to a large part of the file is read.
bool SegmentScanner::ends_in_brace(std::uint64_t end) {
  std::uint8_t last = 0;
  return file_.read_at(end - 1, {&last, 1}) == 1 && last == '}';
}

SegmentScanner::Step SegmentScanner::take_unit(ScanChunk& chunk, std::size_t& at, const Frame& frame) {
  const ByteView unit = chunk.bytes.view().subspan(at, frame.size);
  const Head head = head_of<Head>(unit, frame.kind);
  if (frame.kind == UnitKind::json && search_.seen_only_kafka() &&
      !search_.vouched(unit, frame.kind, chunk_position_ + at)) {
    // A wrong length, or bytes in the wrong place, have led into the value of a message.
    return handle_unframed(chunk, at, {FaultKind::bad_magic, "no unit of Kafka's", 0, 0});
  }
  Fault remark;
  if (head.first <= last_) {
    if (previous_is_bad(chunk)) {
      // The unit before claims offsets that it may not have: it is the damaged one.
      last_ = previous_.before;
      previous_.there = false;
      return Step::go_on;
    }
    remark = {FaultKind::offset_regression, "offset does not rise", head.first.value(), last_.value() + 1};
    if (!previous_.there || head.first <= previous_.last_record) return refuse_unit(chunk, at, frame, remark);
  } else if (head.last < range_.segment_base) {
    return refuse_unit(chunk, at, frame,
                       {FaultKind::offset_regression, "offset below the segment's base", head.last.value(),
                        range_.segment_base.value()});
  } else if ((range_.below && head.last >= *range_.below) ||
             (head.first > last_ + 1 && contradicted(chunk, at, frame.size, head))) {
    return refuse_unit(chunk, at, frame,
                       {FaultKind::offset_regression, "offset out of line with what follows",
                        head.first.value(), last_.value() + 1});
  }
  add_units(chunk, at, frame.size, remark);
  search_.saw(frame.kind);
  previous_ = {chunk_position_ + at, frame.size, frame.kind, last_, head.last_record, true, std::nullopt};
  last_ = std::max(last_, head.last);
  at += frame.size;
  return Step::go_on;
}

// A whole unit that cannot be used. If its checksum is bad, too, its length may be wrong: then the search for
// what follows begins inside it.
SegmentScanner::Step SegmentScanner::refuse_unit(ScanChunk& chunk, std::size_t& at, const Frame& frame,
                                                 const Fault& fault) {
  const std::uint64_t position = chunk_position_ + at;
  const ByteView unit = chunk.bytes.view().subspan(at, frame.size);
  if (check_unit(unit, frame.kind)) {
    search_.waste(frame.size);
    return handle_unframed(chunk, at, fault);
  }
  add_damage(chunk, position, position + frame.size, fault);
  at += frame.size;
  return Step::go_on;
}

// True if a good unit behind one that leaps ahead continues from before the leap. Damaged ones between say
// nothing, but do not hide it.
bool SegmentScanner::contradicted(const ScanChunk& chunk, std::size_t at, std::uint64_t size,
                                  const Head& head) {
  constexpr int most_damaged = 4;
  std::uint64_t next = chunk_position_ + at + size;
  for (int damaged = 0; damaged <= most_damaged && next < range_.end; ++damaged) {
    std::uint8_t bytes[kHeadBytes];
    const std::uint64_t in_chunk = next - chunk_position_;
    ByteView window = in_chunk < chunk.bytes.size() ? chunk.bytes.view().subspan(in_chunk) : ByteView{};
    if (window.size() < kHeadBytes) {
      window = {bytes, file_.read_at(next, {bytes, std::min<std::uint64_t>(kHeadBytes, range_.end - next)})};
    }
    const Frame frame = frame_unit(window, range_.end - next);
    if (frame.status != FrameStatus::whole && frame.status != FrameStatus::need_more) return false;
    if (window.size() < kUnitPrefix) return false;
    const Head behind = head_of<Head>(window, frame.kind);
    if (behind.first <= last_ || behind.first > head.last) return false;
    if (search_.good_unit_at(next, last_)) return true;
    next += frame.size;
  }
  return false;
}

bool SegmentScanner::previous_ends_at(std::uint64_t position) const {
  return previous_.there && previous_.position + previous_.size == position;
}

bool SegmentScanner::previous_is_bad(const ScanChunk& chunk) {
  if (!previous_.there) return false;
  if (!previous_.bad && previous_.position >= chunk_position_) {
    const ByteView unit = chunk.bytes.view().subspan(previous_.position - chunk_position_, previous_.size);
    previous_.bad = static_cast<bool>(check_unit(unit, previous_.kind));
    if (*previous_.bad) search_.waste(previous_.size);
  } else if (!previous_.bad) {
    previous_.bad = !search_.good_unit_at(previous_.position, Offset(INT64_MIN));
  }
  return *previous_.bad;
}

// Takes the unit before, the last of the chunk's units, out of its stretch.
void SegmentScanner::take_back_previous(ScanChunk& chunk) {
  Stretch& last = chunk.stretches.back();
  last.size -= previous_.size;
  if (last.size == 0) chunk.stretches.pop_back();
  last_ = previous_.before;
  previous_.there = false;
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

Offset SegmentScanner::highest_offset() const {
  return range_.below ? *range_.below - 1 : range_.segment_base + kMaxRelativeOffset;
}

// No unit begins here. The unit before may have led here by a wrong length: then one that verifies may begin
// inside it.
SegmentScanner::Step SegmentScanner::handle_unframed(ScanChunk& chunk, std::size_t& at, Fault fault) {
  const std::uint64_t position = chunk_position_ + at;
  if (previous_ends_at(position) && previous_.position >= chunk_begin_ && previous_is_bad(chunk)) {
    const auto good = search_.next_good(previous_.position + 1, previous_.before, highest_offset());
    if (good && *good < position) {
      take_back_previous(chunk);
      return go_on_at(chunk, at, previous_.position, *good, {FaultKind::bad_crc, "checksum mismatch", 0, 0});
    }
    // Offsets that only a bad unit claims rule nothing out.
    last_ = previous_.before;
    previous_.there = false;
    if (good) return go_on_at(chunk, at, position, *good, fault);
  }
  const bool zeros = search_.zeros_to_end(position);
  if (!zeros) {
    if (const auto good = search_.next_good(position + 1, last_, highest_offset())) {
      return go_on_at(chunk, at, position, *good, fault);
    }
  }
  add_end(chunk, position, fault, zeros);
  done_ = true;
  return Step::chunk_done;
}

// Calls [from, good) damage and goes on behind it.
SegmentScanner::Step SegmentScanner::go_on_at(ScanChunk& chunk, std::size_t& at, std::uint64_t from,
                                              std::uint64_t good, const Fault& fault) {
  Fault here = fault;
  if (here.kind == FaultKind::torn_tail) {
    here = {FaultKind::bad_length, "length beyond the file", fault.found, fault.expected};
  }
  add_damage(chunk, from, good, here);
  at = good - chunk_position_;
  return at < chunk.bytes.size() ? Step::go_on : Step::chunk_done;
}

// No good unit follows any more.
void SegmentScanner::add_end(ScanChunk& chunk, std::uint64_t from, const Fault& fault, bool zeros) {
  const std::uint64_t size = range_.end - from;
  if (zeros) {
    const Fault tail{FaultKind::zero_tail, "zeros up to the end of the file", static_cast<std::int64_t>(size),
                     0};
    chunk.stretches.push_back({StretchKind::tail, from, size, 0, last_, tail});
  } else if (fault.kind == FaultKind::torn_tail && looks_like_next(from)) {
    chunk.stretches.push_back({StretchKind::tail, from, size, 0, last_, fault});
  } else {
    Fault here = fault;
    if (here.kind == FaultKind::torn_tail) {
      here = {FaultKind::bad_length, "no unit follows from here", fault.found, fault.expected};
    }
    add_damage(chunk, from, range_.end, here);
  }
}

// A torn unit has the head of the next record, as far as it is there: its offset, then a length and a magic
// or brace that framing has found sane.
bool SegmentScanner::looks_like_next(std::uint64_t from) {
  std::uint8_t head[8] = {};
  const std::uint64_t there = std::min<std::uint64_t>(sizeof head, range_.end - from);
  const std::size_t size = file_.read_at(from, {head, static_cast<std::size_t>(there)});
  std::uint8_t expected[8];
  store_be<std::int64_t>(expected, last_.value() + 1);
  if (size < sizeof head) {
    return std::memcmp(head, expected, size) == 0 || std::memcmp(head, expected, 4) == 0;
  }
  const Offset offset(load_be<std::int64_t>(head));
  return offset > last_ && offset - range_.segment_base <= kMaxRelativeOffset;
}

}  // namespace tk
