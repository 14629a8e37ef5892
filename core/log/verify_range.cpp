#include "core/log/verify_range.h"

#include <fmt/format.h>

namespace tk {
namespace {

/// What the range costs. A header with a bad checksum is believed where its surroundings bear it out.
std::optional<std::pair<Offset, Offset>> lost_offsets(const RangeContext& context) {
  const UnitEvent& event = context.event;
  if (event.checksum_good) return event.offsets;
  const Offset first = context.after + 1;
  std::optional<Offset> last;
  if (context.next_offset) {
    last = *context.next_offset - 1;
  } else if (context.next_segment) {
    last = *context.next_segment - 1;
  }
  if (event.offsets && event.offsets->first >= first && (!last || event.offsets->second <= *last)) {
    return event.offsets;
  }
  if (last && *last >= first) return std::pair(first, *last);
  return std::nullopt;
}

std::string fault_words(const Fault& fault) {
  if (fault.kind == FaultKind::bad_crc && (fault.found != 0 || fault.expected != 0)) {
    return fmt::format("{} (stored {:#010x}, computed {:#010x})", fault.detail,
                       static_cast<std::uint32_t>(fault.found), static_cast<std::uint32_t>(fault.expected));
  }
  if (fault.found == 0 && fault.expected == 0) return fault.detail;
  if (fault.expected == 0) return fmt::format("{} (found {})", fault.detail, fault.found);
  return fmt::format("{} (found {}, expected {})", fault.detail, fault.found, fault.expected);
}

std::string what_follows(const RangeContext& context) {
  if (context.next_offset) {
    return fmt::format("; good data go on with offset {} at byte {}: {} unit{} in this segment",
                       context.next_offset->value(), context.next_position, context.units_after,
                       context.units_after == 1 ? "" : "s");
  }
  if (context.next_segment) {
    return fmt::format("; nothing good follows in this segment, the next begins at offset {}",
                       context.next_segment->value());
  }
  return "; nothing good follows";
}

std::string what_is_lost(const DamagedRange& range) {
  if (!range.offsets) return "";
  const char* const sure = range.offsets_verified ? "" : ", unverified";
  const auto [first, last] = *range.offsets;
  if (first == last) return fmt::format(", offset {} lost{}", first.value(), sure);
  return fmt::format(", offsets {} to {} lost{}", first.value(), last.value(), sure);
}

/// Of two neighbours whose checksums are good and whose offsets contradict each other, the place where the
/// offset goes back is what can be seen; that the first is the wrong one is a judgement.
void point_at_step_back(Problem& problem, const RangeContext& context) {
  const Fault& fault = context.event.fault;
  if (fault.kind != FaultKind::offset_regression || fault.found <= fault.expected || !context.next_offset ||
      context.next_offset->value() > fault.found) {
    return;
  }
  problem.position = context.next_position;
  problem.offset = context.next_offset;
  problem.found = context.next_offset->value();
  problem.expected = fault.found + 1;
  problem.message =
      fmt::format("the offset goes back from {} (at byte {}) to {}: the one before is out of line",
                  fault.found, context.event.position, context.next_offset->value());
}

}  // namespace

Problem range_problem(const RangeContext& context) {
  const UnitEvent& event = context.event;
  const Fault& fault = event.fault;
  DamagedRange range;
  range.begin = event.position;
  range.end = event.position + event.size;
  range.offsets_verified = event.checksum_good;
  const bool tail = event.kind == UnitEvent::Kind::tail;
  if (!tail) range.offsets = lost_offsets(context);
  range.next_good_offset = context.next_offset;
  if (context.next_offset) range.next_good_position = context.next_position;
  range.good_units_after = context.units_after;

  Problem problem{.severity = Severity::damage,
                  .kind = fault_name(fault.kind),
                  .file = context.file,
                  .position = event.position,
                  .offset = range.offsets ? range.offsets->first : context.after + 1};
  if (fault.found != 0 || fault.expected != 0) {
    problem.found = fault.found;
    if (fault.expected != 0) problem.expected = fault.expected;
  }
  problem.message = fault_words(fault);
  point_at_step_back(problem, context);
  problem.message += fmt::format("; bytes {} to {}", range.begin, range.end);
  problem.message += what_is_lost(range);
  if (!tail) problem.message += what_follows(context);
  problem.range = range;
  return problem;
}

}  // namespace tk
