#include "core/log/index_file.h"

#include "core/base/error.h"

namespace tk {

OffsetIndexEntry OffsetIndexEntry::decode(const std::uint8_t* bytes, Offset base) {
  return {base + load_be<std::int32_t>(bytes), load_be<std::int32_t>(bytes + 4)};
}

void OffsetIndexEntry::encode(std::uint8_t* bytes, Offset base) const {
  store_be<std::int32_t>(bytes, static_cast<std::int32_t>(offset - base));
  store_be<std::int32_t>(bytes + 4, static_cast<std::int32_t>(position));
}

TimeIndexEntry TimeIndexEntry::decode(const std::uint8_t* bytes, Offset base) {
  return {load_be<std::int64_t>(bytes), base + load_be<std::int32_t>(bytes + 8)};
}

void TimeIndexEntry::encode(std::uint8_t* bytes, Offset base) const {
  store_be<std::int64_t>(bytes, timestamp);
  store_be<std::int32_t>(bytes + 8, static_cast<std::int32_t>(offset - base));
}

template <class Entry>
IndexFile<Entry>::IndexFile(FileSystem& fs, const std::string& path, Offset base) : base_(base) {
  try {
    file_ = fs.open(path, OpenMode::read);
    count_ = file_->size() / Entry::kSize;
  } catch (const Error&) {
    return;  // reading works without an index
  }
  // Entries past the last one are zero, in a preallocated file.
  const auto zero = [&](std::size_t i) {
    std::uint8_t bytes[Entry::kSize] = {};
    if (file_->read_at(i * Entry::kSize, bytes) < Entry::kSize) return true;
    for (const std::uint8_t byte : bytes) {
      if (byte != 0) return false;
    }
    return true;
  };
  if (count_ == 0 || !zero(count_ - 1)) return;
  std::size_t low = 0, high = count_ - 1;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (zero(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  count_ = low;
}

template <class Entry>
Entry IndexFile<Entry>::at(std::size_t i) const {
  std::uint8_t bytes[Entry::kSize] = {};
  if (file_) file_->read_at(i * Entry::kSize, bytes);
  return Entry::decode(bytes, base_);
}

template class IndexFile<OffsetIndexEntry>;
template class IndexFile<TimeIndexEntry>;

namespace {

template <class Entry>
void append_entry(Buffer& to, const Entry& entry, Offset base) {
  entry.encode(to.room(Entry::kSize), base);
  to.commit(Entry::kSize);
}

}  // namespace

void IndexBuilder::add_entry(Offset last_offset, std::uint64_t position) {
  // What cannot be expressed relative to the base stays without an entry: lookups then scan from the one
  // before.
  const std::int64_t relative = last_offset - base_;
  if (relative < 0 || relative > INT32_MAX || position > INT32_MAX) return;
  append_entry(offset_entries_, OffsetIndexEntry{last_offset, static_cast<std::int64_t>(position)}, base_);
  add_final_time_entry();
  bytes_since_entry_ = 0;
}

void IndexBuilder::add_final_time_entry() {
  if (largest_.timestamp <= last_time_ || largest_.offset - base_ > INT32_MAX) return;
  append_entry(time_entries_, largest_, base_);
  last_time_ = largest_.timestamp;
}

void IndexBuilder::resume(const TimeIndexEntry& last_time_entry, const TimeIndexEntry& largest,
                          std::int64_t bytes_since_entry) {
  last_time_ = last_time_entry.timestamp;
  largest_ = largest;
  bytes_since_entry_ = bytes_since_entry;
}

}  // namespace tk
