// `consume -g`: reading as a member of a consumer group (cli.md §4, §6; groups.md).
#pragma once

#include "commands/consume_options.h"
#include "commands/context.h"

namespace tk {

/// Reads what the group assigns to this member, from where the group left off, and commits what the output
/// has taken. `options.group` is set. Returns the exit code.
int run_consume_group(const ConsumeOptions& options, Context& context);

}  // namespace tk
