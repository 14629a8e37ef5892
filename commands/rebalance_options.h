// Options of `tk rebalance` (cli.md §6).
#pragma once

#include <optional>

#include "core/group/assignor.h"

namespace tk {

struct RebalanceOptions {
  /// Answer questions from standard input; no group and no file is touched.
  bool preview = false;
  /// --assignor; for a preview it goes before what a question names.
  std::optional<Assignor> assignor;
};

}  // namespace tk
