// Options of `tk recover` (cli.md §5).
#pragma once

#include <cstdint>

#include "commands/common_options.h"

namespace tk {

struct RecoverOptions {
  /// What to do with damage that has readable records behind it.
  enum class Damage : std::uint8_t {
    refuse,
    truncate,  // drop everything from the first damage on, as a broker would
    salvage,   // drop only the damaged bytes
  };

  Targets targets;
  /// Say what would happen, change nothing.
  bool dry_run = false;
  /// Only with `dry_run`: say what a broker's next start would do, not what this command would.
  bool as_broker = false;
  Damage damage = Damage::refuse;
  /// From the first segment on, not from the last trusted point.
  bool full = false;
  SyncMode sync = SyncMode::end;
};

}  // namespace tk
