#include "core/log/index_check.h"

#include <algorithm>

#include "core/log/segment_names.h"

namespace tk {
namespace {

constexpr std::size_t kBlockEntries = 1024;
constexpr std::size_t kZeroBlock = 64U << 10;

}  // namespace

template <class Entry>
IndexEntryReader<Entry>::IndexEntryReader(FileSystem& fs, const std::string& path, Offset base)
    : file_(fs.open(path, OpenMode::read)), base_(base), file_size_(file_->size()) {
  find_count();
  load();
}

// From the end towards the beginning: garbage in the middle cannot mislead the search.
template <class Entry>
void IndexEntryReader<Entry>::find_count() {
  std::uint64_t end = file_size_ / Entry::kSize * Entry::kSize;
  while (end > 0) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kZeroBlock, end));
    block_.resize(size);
    block_.cut(file_->read_at(end - size, {block_.data(), size}));
    std::size_t used = block_.size();
    while (used > 0 && block_.data()[used - 1] == 0) --used;
    if (used > 0) {
      end = end - size + used;
      break;
    }
    end -= size;
  }
  count_ = (end + Entry::kSize - 1) / Entry::kSize;
  // A lone entry may be zero in earnest: the base offset, at position or time 0.
  if (count_ == 0 && file_size_ == Entry::kSize) count_ = 1;
  block_.clear();
}

template <class Entry>
void IndexEntryReader<Entry>::load() {
  if (number_ >= count_) return;
  if (number_ >= block_first_ + block_.size() / Entry::kSize || block_.empty()) {
    const auto entries = static_cast<std::size_t>(std::min<std::uint64_t>(kBlockEntries, count_ - number_));
    block_.resize(entries * Entry::kSize);
    block_.cut(file_->read_at(number_ * Entry::kSize, {block_.data(), block_.size()}));
    block_first_ = number_;
    if (block_.size() < Entry::kSize) {  // the file shrank under us
      count_ = number_;
      return;
    }
  }
  entry_ = Entry::decode(block_.data() + (number_ - block_first_) * Entry::kSize, base_);
}

template <class Entry>
void IndexEntryReader<Entry>::advance() {
  ++number_;
  load();
}

template <class Entry>
IndexCheck<Entry>::IndexCheck(FileSystem& fs, const SegmentFile& segment, std::string_view suffix,
                              bool is_last)
    : fs_(fs), segment_(segment), is_last_(is_last), reader_(fs, segment.beside(suffix), segment.base) {
  if (reader_.file_size() % Entry::kSize != 0) {
    fail("the size is no multiple of an entry's", static_cast<std::int64_t>(reader_.file_size()));
    verdict_.position = reader_.file_size() / Entry::kSize * Entry::kSize;
    verdict_.offset.reset();
  } else if (reader_.preallocated()) {
    verdict_ = {is_last ? IndexState::usable : IndexState::wrong,
                "zeros behind the last entry, as in the file of a running or killed writer",
                reader_.count() * Entry::kSize,
                {},
                {},
                {}};
    ended_ = !is_last;
  }
}

template <class Entry>
void IndexCheck<Entry>::fail(const char* reason, std::optional<std::int64_t> found,
                             std::optional<std::int64_t> expected) {
  ended_ = true;
  verdict_ = {IndexState::wrong, reason, reader_.position(), {}, found, expected};
  if (const Entry* entry = reader_.peek()) verdict_.offset = entry->offset;
}

template <class Entry>
void IndexCheck<Entry>::end_or_fail(const char* reason, std::int64_t found, std::int64_t expected) {
  if (is_last_ && reader_.preallocated()) {
    ended_ = true;
  } else {
    fail(reason, found, expected);
  }
}

template <class Entry>
void IndexCheck<Entry>::settle_rest(const char* reason, std::uint64_t position) {
  if (!entry_at_hand()) return;
  if (is_last_ && reader_.preallocated()) return;
  // A writer at work adds entries for what was appended after we had taken the log's size.
  if (is_last_) {
    const auto now = fs_.stat(segment_.log_path);
    if (now && now->size > segment_.size && now->size > position) return;
  }
  fail(reason);
}

template class IndexEntryReader<OffsetIndexEntry>;
template class IndexEntryReader<TimeIndexEntry>;
template class IndexCheck<OffsetIndexEntry>;
template class IndexCheck<TimeIndexEntry>;

OffsetIndexCheck::OffsetIndexCheck(FileSystem& fs, const SegmentFile& segment, bool is_last)
    : IndexCheck(fs, segment, kIndexSuffix, is_last), last_(segment.base - 1) {
  load_entry();
}

void OffsetIndexCheck::load_entry() {
  if (!entry_at_hand()) return;
  const OffsetIndexEntry& entry = *reader_.peek();
  if (entry.offset < segment_.base || entry.position < 0) {
    return fail("an entry lies before the segment", entry.offset.value(), segment_.base.value());
  }
  if (before_ && entry.offset <= before_->offset) {
    return end_or_fail("offsets do not rise", entry.offset.value(), before_->offset.value() + 1);
  }
  if (before_ && entry.position <= before_->position) {
    return end_or_fail("positions do not rise", entry.position, before_->position + 1);
  }
  if (before_) {
    const auto spacing = static_cast<std::uint64_t>(entry.position - before_->position);
    least_spacing_ = std::min(least_spacing_.value_or(spacing), spacing);
  }
}

void OffsetIndexCheck::close_pending() {
  if (!pending_) return;
  if (pending_->offset > last_) {
    const OffsetIndexEntry entry = *pending_;
    fail("the entry's offset lies behind what its position leads to", entry.offset.value(), last_.value());
    verdict_.position = pending_position_;
    verdict_.offset = entry.offset;
  } else if (!pending_exact_ && verdict_.state == IndexState::good) {
    verdict_ = {IndexState::usable,       "an entry's offset is not the last one of a batch",
                pending_position_,        pending_->offset,
                pending_->offset.value(), last_.value()};
  }
  pending_.reset();
}

void OffsetIndexCheck::add(const IndexedUnit& unit) {
  while (entry_at_hand()) {
    const OffsetIndexEntry entry = *reader_.peek();
    const auto position = static_cast<std::uint64_t>(entry.position);
    if (position >= unit.position + unit.size) break;
    if (position != unit.position) {
      fail("no batch begins at the entry's position", entry.position,
           static_cast<std::int64_t>(unit.position));
      break;
    }
    close_pending();
    if (ended_) break;
    if (entry.offset < unit.first) {
      fail("the entry's offset lies before its position", entry.offset.value(), unit.first.value());
      break;
    }
    pending_ = before_ = entry;
    pending_position_ = reader_.position();
    pending_exact_ = false;
    reader_.advance();
    load_entry();
  }
  last_ = std::max(last_, unit.last);
  if (pending_ && (unit.kind == UnitKind::legacy || unit.last == pending_->offset)) pending_exact_ = true;
}

void OffsetIndexCheck::skip(std::uint64_t position, std::uint64_t size) {
  pending_.reset();
  while (entry_at_hand()) {
    const OffsetIndexEntry entry = *reader_.peek();
    if (static_cast<std::uint64_t>(entry.position) >= position + size) break;
    before_ = entry;
    reader_.advance();
    load_entry();
  }
}

void OffsetIndexCheck::finish() {
  if (verdict_.state != IndexState::wrong) close_pending();
  const OffsetIndexEntry* const entry = entry_at_hand() ? reader_.peek() : nullptr;
  settle_rest("an entry points behind the end of the log",
              entry == nullptr ? 0 : static_cast<std::uint64_t>(entry->position));
}

TimeIndexCheck::TimeIndexCheck(FileSystem& fs, const SegmentFile& segment, bool is_last)
    : IndexCheck(fs, segment, kTimeIndexSuffix, is_last) {
  load_entry();
}

void TimeIndexCheck::load_entry() {
  if (!entry_at_hand()) return;
  const TimeIndexEntry& entry = *reader_.peek();
  if (entry.offset < segment_.base) {
    return fail("an entry lies before the segment", entry.offset.value(), segment_.base.value());
  }
  if (before_ && entry.timestamp <= before_->timestamp) {
    return end_or_fail("timestamps do not rise", entry.timestamp, before_->timestamp + 1);
  }
  if (before_ && entry.offset < before_->offset) {
    return end_or_fail("offsets go back", entry.offset.value(), before_->offset.value());
  }
}

void TimeIndexCheck::add(const IndexedUnit& unit) {
  const std::int64_t largest = std::max(largest_, unit.max_timestamp);
  while (entry_at_hand()) {
    const TimeIndexEntry entry = *reader_.peek();
    if (entry.offset > unit.last) break;
    if (!uncertain_ && unit.has_timestamp) {
      if (entry.offset < unit.first) {
        fail("no batch holds the entry's offset", entry.offset.value(), unit.first.value());
        break;
      }
      if (entry.timestamp != unit.max_timestamp || entry.timestamp < largest) {
        fail("the entry's time is not the largest up to its offset", entry.timestamp, largest);
        break;
      }
    }
    before_ = entry;
    reader_.advance();
    load_entry();
  }
  largest_ = largest;
  end_ = unit.position + unit.size;
}

void TimeIndexCheck::finish() {
  settle_rest("an entry names an offset behind the end of the log", end_);
  if (ended_ || is_last_ || uncertain_ || verdict_.state == IndexState::wrong) return;
  const std::int64_t reached = before_ ? before_->timestamp : kNoTimestamp;
  if (reached < largest_) {
    fail("the index of a closed segment does not reach its largest time", reached, largest_);
    verdict_.position = reader_.count() * TimeIndexEntry::kSize;
    verdict_.offset.reset();
  }
}

}  // namespace tk
