// What `tk verify` has to say of a partition: problems, one by one, and totals (cli.md §5).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/ids.h"

namespace tk {

enum class Severity : std::uint8_t {
  damage,   // records are lost or altered
  derived,  // an index, snapshot or checkpoint is wrong: recovery makes it anew
  note,     // worth knowing, nothing is wrong
};

constexpr std::string_view severity_name(Severity severity) {
  constexpr std::string_view names[] = {"damage", "derived", "note"};
  return names[static_cast<std::size_t>(severity)];
}

/// Bytes of a segment that cannot be used, and what lies behind them.
struct DamagedRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  /// First and last offset that are lost, as far as it can be told.
  std::optional<std::pair<Offset, Offset>> offsets;
  /// The offsets come from a header whose checksum is good.
  bool offsets_verified = false;
  /// The first good unit behind, in the same segment.
  std::optional<Offset> next_good_offset;
  std::optional<std::uint64_t> next_good_position;
  /// Good units behind it, in the same segment.
  std::uint64_t good_units_after = 0;
};

struct Problem {
  Severity severity = Severity::note;
  /// A literal of cli.md §5: a fault's name, or "index", "gap", ...
  std::string_view kind;
  /// Path of the file; of the directory where no single file is to blame.
  std::string file;
  /// The byte in that file (in a text file the line, from 1).
  std::optional<std::uint64_t> position = {};
  std::optional<Offset> offset = {};
  std::optional<std::int64_t> found = {};
  std::optional<std::int64_t> expected = {};
  /// One line, without the place.
  std::string message = {};
  std::optional<DamagedRange> range = {};
};

using ProblemSink = std::function<void(const Problem&)>;

struct VerifyTotals {
  std::uint64_t partitions = 0;
  std::uint64_t segments = 0;
  std::uint64_t bytes = 0;
  /// Stored units that verify: batches, legacy messages, json records.
  std::uint64_t batches = 0;
  /// Records in them; without a look inside (--quick) as their headers count them.
  std::uint64_t records = 0;
  std::uint64_t damage = 0;
  std::uint64_t derived = 0;
  std::uint64_t notes = 0;
  /// Json records without a checksum.
  std::uint64_t unprotected = 0;
};

/// Passes problems on and counts them.
class ProblemCounter {
 public:
  ProblemCounter(const ProblemSink& sink, VerifyTotals& totals) : sink_(sink), totals_(totals) {}

  void operator()(const Problem& problem) {
    switch (problem.severity) {
      case Severity::damage:
        ++totals_.damage;
        break;
      case Severity::derived:
        ++totals_.derived;
        break;
      case Severity::note:
        ++totals_.notes;
        break;
    }
    sink_(problem);
  }
  [[nodiscard]] VerifyTotals& totals() { return totals_; }

 private:
  const ProblemSink& sink_;
  VerifyTotals& totals_;
};

}  // namespace tk
