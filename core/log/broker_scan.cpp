#include "core/log/broker_scan.h"

#include <algorithm>

#include "core/base/crc.h"
#include "core/base/error.h"
#include "core/format/batch.h"
#include "core/format/control_record.h"
#include "core/format/record_decoder.h"
#include "core/log/index_file.h"
#include "core/log/unit_walk.h"

namespace tk {
namespace {

/// Kafka reads this much of an entry before anything else; exactly as much left counts as too little.
constexpr std::uint64_t kBrokerHeader = 17;
constexpr std::size_t kWindow = 1U << 20;

/// Large reads over a file, with the bytes at any position at hand.
class Window {
 public:
  Window(File& file, std::uint64_t end) : file_(file), end_(end) {}

  /// `size` bytes at `position`; fewer if the file ends.
  ByteView at(std::uint64_t position, std::uint64_t size) {
    if (position < start_ || position + size > start_ + bytes_.size()) {
      start_ = position;
      bytes_.resize(static_cast<std::size_t>(
          std::min<std::uint64_t>(end_ - position, std::max<std::uint64_t>(size, kWindow))));
      bytes_.cut(file_.read_at(position, {bytes_.data(), bytes_.size()}));
    }
    const std::size_t from = static_cast<std::size_t>(position - start_);
    return bytes_.view().subspan(from,
                                 std::min<std::size_t>(static_cast<std::size_t>(size), bytes_.size() - from));
  }

 private:
  File& file_;
  std::uint64_t end_;
  std::uint64_t start_ = 0;
  Buffer bytes_;
};

/// What a broker makes of the unit at the head of `window`: its size, or why it would cut there.
struct Step {
  std::uint64_t size = 0;
  Fault fault;
};

Step step_over(Window& window, std::uint64_t position, std::uint64_t end) {
  const std::uint64_t remaining = end - position;
  const ByteView head = window.at(position, kBrokerHeader + 1);
  if (remaining < kUnitPrefix) return {0, {FaultKind::torn_tail, "the file ends inside a unit", 0, 0}};
  const auto length = load_be<std::int32_t>(head.data() + 8);
  const bool json = length >= 2 && head.size() > kUnitPrefix && head[kUnitPrefix] == '{' &&
                    (length < kMinLegacyLength || (head.size() > kMagicPosition && head[kMagicPosition] > 2));
  if (!json && remaining <= kBrokerHeader)
    return {0, {FaultKind::torn_tail, "the file ends inside a unit", 0, 0}};
  if (!json && length < kMinLegacyLength)
    return {0, {FaultKind::bad_length, "length below the smallest message", length, kMinLegacyLength}};
  const std::uint64_t size = kUnitPrefix + static_cast<std::uint64_t>(length);
  if (size > remaining)
    return {
        0,
        {FaultKind::torn_tail, "the file ends inside a unit", length, static_cast<std::int64_t>(remaining)}};
  const ByteView unit = window.at(position, size);
  if (unit.size() < size) return {0, {FaultKind::torn_tail, "the file ends inside a unit", 0, 0}};
  if (json) return {size, check_unit(unit, UnitKind::json)};
  // A magic of 2 and above is taken as a v2 batch, everything below (negative included) as an old message.
  const bool batch = static_cast<std::int8_t>(unit[kMagicPosition]) >= 2;
  if (batch && size < kBatchHeader)
    return {0, {FaultKind::bad_length, "length below the smallest batch", length, kMinBatchLength}};
  return {size, check_unit(unit, batch ? UnitKind::batch : UnitKind::legacy)};
}

Fault regressed(const char* detail, Offset found, Offset expected) {
  return {FaultKind::offset_regression, detail, found.value(), expected.value()};
}

BrokerScan emptied(const SegmentFile& segment, Offset found, Offset above) {
  BrokerScan scan;
  scan.fault = regressed("offset does not rise where an index entry is due: the broker empties the segment",
                         found, above);
  scan.next_offset = segment.base;
  scan.emptied = true;
  return scan;
}

bool is_batch(ByteView unit) {
  return unit.size() >= kBatchHeader && static_cast<std::int8_t>(unit[kMagicPosition]) >= 2 &&
         unit[kUnitPrefix] != '{';
}

/// The header's facts as a broker takes them.
UnitInfo info_of(ByteView unit) {
  UnitInfo info;
  if (is_batch(unit)) return read_batch_header(unit.data());
  if (read_unit_info(unit, framed_kind(unit), info))
    info.last_offset = Offset(load_be<std::int64_t>(unit.data()));
  return info;
}

/// What feeding a unit to the producers comes to.
struct Fed {
  Fault cut;                      // the record of a marker cannot be read
  const char* refusal = nullptr;  // the start ends
};

Fed feed(ByteView unit, const UnitInfo& info, RecordDecoder& decoder, ProducerState& producers) {
  if (info.kind != UnitKind::batch || info.magic != 2 || info.producer_id.value() < 0) return {};
  Fed fed;
  if (info.control && info.count != 0) {
    bool first = true;
    const Fault fault = decoder.decode(unit, info, [&](const RecordView& record) {
      if (!first) return;
      first = false;
      ControlKey key;
      fed.cut = parse_control_key(record.key, key);
      if (fed.cut) return;
      if (!key.ends_transaction()) {
        fed.refusal = "a control record of an unknown type from a producer";
        return;
      }
      std::int32_t epoch = 0;
      fed.cut = parse_end_marker(record.value, epoch);
    });
    if (fault && !fed.cut && fed.refusal == nullptr) fed.cut = fault;
    if (fed.cut || fed.refusal != nullptr) return fed;
  }
  const ProducerEntry* const known = producers.find(info.producer_id);
  if (!info.control && !info.transactional && known != nullptr && known->transaction_first) {
    fed.refusal = "a batch outside the transaction that its producer has open";
    return fed;
  }
  producers.add(unit, info);
  return fed;
}

/// True if no whole unit begins behind `position`.
bool nothing_behind(Window& window, std::uint64_t position, std::uint64_t end) {
  return position >= end || step_over(window, position, end).fault;
}

constexpr const char* kCannotSplit =
    "an offset that cannot be indexed relative to the segment's base, in a place where no split is possible";

class Scan {
 public:
  Scan(FileSystem& fs, const SegmentFile& segment, const BrokerScanOptions& options)
      : segment_(segment),
        options_(options),
        file_(fs.open(segment.log_path, OpenMode::read)),
        window_(*file_, segment.size),
        indexed_(segment.base),
        largest_at_(segment.base),
        last_time_at_(segment.base) {
    result_.next_offset = segment.base;
  }

  BrokerScan run();

 private:
  enum class Go : std::uint8_t { on, stop };
  Go take(ByteView unit, const UnitInfo& info);
  Go check_range(ByteView unit, const UnitInfo& info);
  Go index(const UnitInfo& info);
  Go follow_producers(ByteView unit, const UnitInfo& info);

  const SegmentFile& segment_;
  const BrokerScanOptions& options_;
  std::unique_ptr<File> file_;
  Window window_;
  RecordDecoder decoder_;
  BrokerScan result_;
  std::uint64_t position_ = 0;
  // Of the indexes that the broker makes.
  std::uint64_t last_entry_ = 0;
  Offset indexed_;
  bool any_entry_ = false;
  std::int64_t largest_ = kNoTimestamp, last_time_ = kNoTimestamp;
  Offset largest_at_, last_time_at_;
};

Scan::Go Scan::check_range(ByteView unit, const UnitInfo& info) {
  if (!options_.refusals) {
    if (info.last_offset >= segment_.base) return Go::on;
    result_.fault = regressed("offset below the segment's base", info.last_offset, segment_.base);
    return Go::stop;
  }
  const bool fits = info.last_offset >= segment_.base && info.last_offset - segment_.base <= INT32_MAX;
  if (fits) return Go::on;
  const bool above = info.last_offset > segment_.base;
  if (above && nothing_behind(window_, position_ + unit.size(), segment_.size)) {
    result_.split_at = position_;
  } else {
    result_.refusal = kCannotSplit;
  }
  return Go::stop;
}

Scan::Go Scan::index(const UnitInfo& info) {
  if (info.max_timestamp > largest_) {
    largest_ = info.max_timestamp;
    largest_at_ = info.last_offset;
  }
  if (static_cast<std::int64_t>(position_ - options_.from - last_entry_) <= options_.index_interval)
    return Go::on;
  const bool offset_back = any_entry_ && info.last_offset <= indexed_;
  const bool time_back = largest_ > last_time_ && largest_at_ < last_time_at_;
  if (offset_back || time_back) {
    result_ = emptied(segment_, info.last_offset, indexed_);
    return Go::stop;
  }
  indexed_ = info.last_offset;
  any_entry_ = true;
  last_entry_ = position_ - options_.from;
  if (largest_ > last_time_) {
    last_time_ = largest_;
    last_time_at_ = largest_at_;
  }
  return Go::on;
}

Scan::Go Scan::follow_producers(ByteView unit, const UnitInfo& info) {
  if (!options_.refusals || options_.producers == nullptr) return Go::on;
  const Fed fed = feed(unit, info, decoder_, *options_.producers);
  if (fed.cut) {
    // Why the start fails though the segment has been cut is not known; it does (§9.2).
    result_.fault = fed.cut;
    result_.refusal = "a transaction marker that cannot be read";
    return Go::stop;
  }
  result_.refusal = fed.refusal;
  return fed.refusal != nullptr ? Go::stop : Go::on;
}

Scan::Go Scan::take(ByteView unit, const UnitInfo& info) {
  if (check_range(unit, info) == Go::stop || index(info) == Go::stop) return Go::stop;
  return follow_producers(unit, info);
}

BrokerScan Scan::run() {
  position_ = options_.from;
  while (position_ < segment_.size) {
    const Step step = step_over(window_, position_, segment_.size);
    if (step.fault) {
      result_.fault = step.fault;
      break;
    }
    const ByteView unit = window_.at(position_, step.size);
    const UnitInfo info = info_of(unit);
    if (take(unit, info) == Go::stop) {
      if (result_.emptied) return result_;
      break;
    }
    position_ += step.size;
    result_.next_offset = info.last_offset + 1;
  }
  // The time index gets a final entry when the scan is through.
  if (largest_ > last_time_ && largest_at_ < last_time_at_)
    return emptied(segment_, largest_at_, last_time_at_);
  result_.valid_bytes = std::min(position_, segment_.size);
  return result_;
}

}  // namespace

BrokerScan scan_as_broker(FileSystem& fs, const SegmentFile& segment, const BrokerScanOptions& options) {
  BrokerScan nothing;
  nothing.next_offset = segment.base;
  if (segment.size <= options.from) return nothing;
  return Scan(fs, segment, options).run();
}

namespace {

/// The entries of an offset index as Kafka sees them: as many as the file has room for.
class TrustedIndex {
 public:
  TrustedIndex(FileSystem& fs, const std::string& path, Offset base) : base_(base) {
    if (!fs.stat(path)) return;
    file_ = fs.open(path, OpenMode::read);
    count_ = file_->size() / OffsetIndexEntry::kSize;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] OffsetIndexEntry at(std::uint64_t i) const {
    std::uint8_t bytes[OffsetIndexEntry::kSize] = {};
    if (file_) file_->read_at(i * OffsetIndexEntry::kSize, bytes);
    return OffsetIndexEntry::decode(bytes, base_);
  }
  /// Kafka's search, which looks among the newest 8 KiB of entries first; entries that do not rise lead it
  /// astray the same way.
  [[nodiscard]] std::int64_t position_of(Offset target) const {
    if (count_ == 0) return 0;
    constexpr std::uint64_t warm = 8192 / OffsetIndexEntry::kSize;
    const std::uint64_t hot = count_ - 1 > warm ? count_ - 1 - warm : 0;
    if (at(hot).offset < target) return search(hot, count_ - 1, target);
    if (at(0).offset > target) return 0;
    return search(0, hot, target);
  }

 private:
  [[nodiscard]] std::int64_t search(std::uint64_t low, std::uint64_t high, Offset target) const {
    while (low < high) {
      const std::uint64_t middle = (low + high + 1) / 2;
      const OffsetIndexEntry entry = at(middle);
      if (entry.offset == target) return entry.position;
      if (entry.offset > target) {
        high = middle - 1;
      } else {
        low = middle;
      }
    }
    return at(low).position;
  }

  Offset base_;
  std::unique_ptr<File> file_;
  std::uint64_t count_ = 0;
};

/// The head of the unit at `position` as a reader that sums nothing takes it; a size of 0 at the end.
struct TrustedHead {
  std::uint64_t size = 0;
  Offset last_offset;
  Fault fault;
};

TrustedHead trusted_head(Window& window, std::uint64_t position, std::uint64_t end) {
  if (position >= end || end - position <= kBrokerHeader) return {};
  const ByteView head = window.at(position, std::min<std::uint64_t>(kBatchHeader, end - position));
  if (head.size() <= kBrokerHeader) return {};
  const auto length = load_be<std::int32_t>(head.data() + 8);
  TrustedHead found;
  if (length < kMinLegacyLength) {
    found.fault = {FaultKind::bad_length, "length below the smallest message", length, kMinLegacyLength};
    return found;
  }
  const std::uint64_t size = kUnitPrefix + static_cast<std::uint64_t>(length);
  if (size > end - position) return {};
  found.size = size;
  found.last_offset = Offset(load_be<std::int64_t>(head.data()));
  if (static_cast<std::int8_t>(head[kMagicPosition]) >= 2 && head.size() >= kBatchHeader)
    found.last_offset = read_batch_header(head.data()).last_offset;
  return found;
}

}  // namespace

BrokerEnd find_end_as_broker(FileSystem& fs, const SegmentFile& segment, const std::string& index_path,
                             Offset base) {
  BrokerEnd result;
  result.next_offset = base;
  const TrustedIndex index(fs, index_path, base);
  const Offset target = index.count() == 0 ? base : index.at(index.count() - 1).offset;
  const auto file = fs.open(segment.log_path, OpenMode::read);
  Window window(*file, segment.size);
  auto position = static_cast<std::uint64_t>(std::max<std::int64_t>(index.position_of(target), 0));
  bool found = false;
  for (;;) {
    const TrustedHead head = trusted_head(window, position, segment.size);
    if (head.fault) {
      result.fault = head.fault;
      result.position = position;
      result.next_offset.reset();
      return result;
    }
    if (head.size == 0) return result;
    found |= head.last_offset >= target;
    if (found) result.next_offset = head.last_offset + 1;
    position += head.size;
  }
}

const char* feed_producers_as_broker(FileSystem& fs, const SegmentFile& segment, Offset from, Offset to,
                                     ProducerState& producers) {
  if (segment.size == 0) return nullptr;
  const auto file = fs.open(segment.log_path, OpenMode::read);
  Window window(*file, segment.size);
  RecordDecoder decoder;
  std::uint64_t position = 0;
  for (;;) {
    const TrustedHead head = trusted_head(window, position, segment.size);
    if (head.fault) return "a length that cannot be right, met while the producers' state is made anew";
    if (head.size == 0) return nullptr;
    const ByteView unit = window.at(position, head.size);
    position += head.size;
    if (unit.size() < head.size || !is_batch(unit) || head.last_offset < from) continue;
    const UnitInfo info = read_batch_header(unit.data());
    if (info.base_offset >= to) return nullptr;
    const Fed fed = feed(unit, info, decoder, producers);
    if (fed.refusal != nullptr) return fed.refusal;
    if (fed.cut) return "a transaction marker that cannot be read";
  }
}

}  // namespace tk
