// Opens the data directory of a command and says what was found there.
#pragma once

#include "commands/common_options.h"
#include "core/catalog/topic_config.h"
#include "core/store/store.h"

namespace tk {

struct Context;

/// How long the command waits for a lock: --lock-timeout, or until it is interrupted. `context` must outlive
/// it.
LockWait lock_wait(const Context& context);

/// For looking. Foreign entries are noted, and a state file that cannot be used is reported (it decides the
/// exit code) while the command goes on.
Store open_store(Context& context);
/// For writing; with a state file that cannot be used it throws.
Store open_store_for_writing(Context& context);

/// Completes transactions that are decided, and aborts those that are over their time; what cannot be done
/// now is a warning.
void expire_due_transactions(Store& store, Context& context);

/// Of several settings of one key the last counts.
ConfigMap config_map(const std::vector<ConfigSetting>& settings);

/// Reports what is damaged at a view's end, which the view steps over (a torn tail is no damage).
void report_damage_at_end(const LogView& view, Context& context);

}  // namespace tk
