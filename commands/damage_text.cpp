#include "commands/damage_text.h"

#include <fmt/format.h>

namespace tk {

std::string fault_text(const Fault& fault) {
  const std::string_view name = fault_name(fault.kind);
  if (fault.kind == FaultKind::bad_crc && (fault.found != 0 || fault.expected != 0)) {
    return fmt::format("{}: {} (stored {:#010x}, computed {:#010x})", name, fault.detail,
                       static_cast<std::uint32_t>(fault.found), static_cast<std::uint32_t>(fault.expected));
  }
  if (fault.found == 0 && fault.expected == 0) return fmt::format("{}: {}", name, fault.detail);
  if (fault.expected == 0) return fmt::format("{}: {} (found {})", name, fault.detail, fault.found);
  return fmt::format("{}: {} (found {}, expected {})", name, fault.detail, fault.found, fault.expected);
}

Error damage_error(const ReadDamage& damage) {
  std::string text = fault_text(damage.fault);
  text += fmt::format("; bytes {} to {} are left out", damage.position, damage.position + damage.size);
  if (damage.first && damage.last) {
    const bool sure = damage.fault.kind == FaultKind::record;
    text += fmt::format(", offsets {} to {}{}", damage.first->value(), damage.last->value(),
                        sure ? "" : " by its header, unverified");
  }
  return Error(ErrorCode::corrupt_message, text)
      .at(damage.path, damage.position)
      .hint("look closer with 'tk verify' or 'tk dump-log', repair a copy with 'tk recover'");
}

}  // namespace tk
