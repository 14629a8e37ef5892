// Options of `tk verify` (cli.md §5).
#pragma once

#include "commands/common_options.h"

namespace tk {

struct VerifyOptions {
  Targets targets;
  /// Leave the records inside batches with a good checksum alone.
  bool quick = false;
};

}  // namespace tk
