// `tk recover --as-broker --dry-run`: what a broker's next start would do (cli.md §5).
#pragma once

#include <string>
#include <vector>

#include "commands/context.h"

namespace tk {

/// Prints a line or object for each of the partition directories, with the clean-shutdown marker as it is and
/// without it. Returns the exit code: 3 if a start would lose records, or would not come up.
int report_broker_start(const std::vector<std::string>& partitions, Context& context);

}  // namespace tk
