// Looks for whole units that verify in a part of a file where framing has failed or may have.
//
// A file made to mislead can hold, every few bytes, a head that claims much of the file, and to refute a
// claim costs a sum over it. So sums that come out wrong are counted, and a claim is looked into only while
// they stay within an allowance in proportion to the file. Damage as disks make it never comes near it.
#pragma once

#include <optional>

#include "core/base/buffer.h"
#include "core/base/ids.h"
#include "core/format/unit.h"
#include "core/io/file_system.h"

namespace tk {

class UnitSearch {
 public:
  /// Searches in [begin, end) of `file`.
  UnitSearch(File& file, std::uint64_t begin, std::uint64_t end) : file_(file), begin_(begin), end_(end) {}

  /// The file turned out to end here.
  void cut(std::uint64_t end) { end_ = end; }

  /// True if a whole unit with a good checksum and an offset above `after` begins at `position`; false also
  /// if finding out is beyond the allowance.
  bool good_unit_at(std::uint64_t position, Offset after);
  /// The first place at or behind `from` where a good unit with an offset above `after` and up to `limit`
  /// begins. A json record without a checksum is one only where something vouches for it: the value of a
  /// message may hold what looks like one.
  std::optional<std::uint64_t> next_good(std::uint64_t from, Offset after, Offset limit);
  /// A unit of this kind was met where one was due.
  void saw(UnitKind kind) { (kind == UnitKind::json ? seen_json_ : seen_kafka_) = true; }
  /// Units of Kafka's were met and no json records.
  [[nodiscard]] bool seen_only_kafka() const { return seen_kafka_ && !seen_json_; }
  /// True unless `unit`, a whole one that begins at `position`, is a json record that may as well be a part
  /// of something else: no record at all, or without a checksum where no json record was met before. As the
  /// first of a file it must be followed by another.
  bool vouched(ByteView unit, UnitKind kind, std::uint64_t position);

  /// True if there is nothing but zeros from here to the end.
  bool zeros_to_end(std::uint64_t from);

  /// True if summing `size` bytes at `position` in vain would be within the allowance.
  [[nodiscard]] bool affords(std::uint64_t position, std::uint64_t size) const {
    return wasted_ + size <= kAllowance * ((end_ - begin_) + (position - begin_)) + kLeastAllowance;
  }
  /// Counts a sum that came out wrong.
  void waste(std::uint64_t size) { wasted_ += size; }

 private:
  static constexpr std::uint64_t kAllowance = 16;
  static constexpr std::uint64_t kLeastAllowance = 1U << 20;

  bool sum_in_pieces(std::uint64_t position, std::uint64_t size, std::uint32_t stored);

  File& file_;
  std::uint64_t begin_;
  std::uint64_t end_;
  std::uint64_t wasted_ = 0;
  bool seen_json_ = false;
  bool seen_kafka_ = false;
  Buffer window_;
  Buffer unit_;
};

}  // namespace tk
