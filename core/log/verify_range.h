// A damaged range in words: what is wrong, which offsets it costs, and where good data go on.
#pragma once

#include "core/log/problem.h"
#include "core/log/verify_units.h"

namespace tk {

struct RangeContext {
  const std::string& file;
  /// A damage or tail event.
  const UnitEvent& event;
  /// The last good offset before it.
  Offset after;
  /// The first good unit behind it in the segment, and the number of good ones from there on.
  std::optional<Offset> next_offset = {};
  std::uint64_t next_position = 0;
  std::uint64_t units_after = 0;
  /// The base of the next segment, if there is one.
  std::optional<Offset> next_segment = {};
};

Problem range_problem(const RangeContext& context);

}  // namespace tk
