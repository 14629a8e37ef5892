#include "commands/dump_damage.h"

#include <fmt/format.h>

#include "commands/diagnostics.h"
#include "core/base/error.h"

namespace tk {
namespace {

std::string numbers_of(const Fault& fault) {
  if (fault.found == 0 && fault.expected == 0) return "";
  switch (fault.kind) {
    case FaultKind::bad_crc:
      return fmt::format(" (stored {}, computed {})", fault.found, fault.expected);
    case FaultKind::offset_regression:
      return fmt::format(" (found {}, expected {} or above)", fault.found, fault.expected);
    case FaultKind::none:
    case FaultKind::torn_tail:
    case FaultKind::zero_tail:
      return "";
    default:
      return fmt::format(" (found {})", fault.found);
  }
}

std::string describe(const Finding& finding) {
  std::string text = fmt::format("{}: {}{}", fault_name(finding.fault.kind), finding.fault.detail,
                                 numbers_of(finding.fault));
  if (finding.size > 0) text += fmt::format(", {} bytes", finding.size);
  if (finding.offsets) {
    text +=
        fmt::format(", offsets {} to {}", finding.offsets->first.value(), finding.offsets->second.value());
    // The header of a unit whose checksum is wrong may be what is damaged.
    if (finding.fault.kind != FaultKind::record) text += " by its unverified header";
  }
  if (finding.next) {
    text += fmt::format("; the next good batch begins at byte {} with offset {}", finding.next->position,
                        finding.next->offset.value());
  } else {
    text += "; nothing good follows in this file";
  }
  return text;
}

}  // namespace

void FoundDamage::clear() {
  findings_.clear();
  resolved_ = 0;
  first_good_.reset();
}

void DamageReport::take(const FoundDamage& found) {
  if (found.first_good()) {
    for (Finding& finding : waiting_) {
      finding.next = found.first_good();
      report(finding);
    }
    waiting_.clear();
  }
  for (const Finding& finding : found.findings()) {
    if (++total_ > kMostReported) continue;
    if (finding.next) {
      report(finding);
    } else {
      waiting_.push_back(finding);
    }
  }
}

void DamageReport::finish() {
  for (const Finding& finding : waiting_) report(finding);
  waiting_.clear();
  if (total_ <= kMostReported) return;
  const std::string text = fmt::format("{} more damaged places", total_ - kMostReported);
  context_.diagnostics.error(Error(ErrorCode::corrupt_message, text).at(path_));
}

void DamageReport::report(const Finding& finding) {
  context_.diagnostics.error(
      Error(ErrorCode::corrupt_message, describe(finding)).at(path_, finding.position));
}

}  // namespace tk
