#include "commands/open_store.h"

#include <fmt/format.h>

#include "commands/context.h"
#include "commands/damage_text.h"
#include "commands/diagnostics.h"
#include "core/store/log_edges.h"
#include "core/store/store_transactions.h"

namespace tk {
namespace {

Store::Options store_options(Context& context) {
  return {.lock_wait = lock_wait(context),
          .default_format = context.default_format,
          .clock = &context.clock,
          .warn = [&context](const std::string& line) { context.diagnostics.warning(line); }};
}

void report(const Store& store, Context& context) {
  for (const std::string& note : store.notes()) context.diagnostics.note(note);
  if (store.state_error()) context.diagnostics.error(*store.state_error());
}

}  // namespace

LockWait lock_wait(const Context& context) {
  return {context.lock_timeout_ms, [&context] { return context.interrupted.load() != 0; }};
}

Store open_store(Context& context) {
  Store store = Store::open(context.fs, context.directory, store_options(context));
  report(store, context);
  return store;
}

Store open_store_for_writing(Context& context) {
  Store store = Store::open_for_writing(context.fs, context.directory, store_options(context));
  report(store, context);
  return store;
}

void expire_due_transactions(Store& store, Context& context) {
  const auto warn = [&](const std::string& line) { context.diagnostics.warning(line); };
  try {
    expire_transactions(store, context.clock, warn);
  } catch (const Error& error) {
    // A state file of producers that cannot be used stops only who needs it.
    warn(fmt::format("{}: {}", error.path(), error.message()));
  }
}

ConfigMap config_map(const std::vector<ConfigSetting>& settings) {
  ConfigMap map;
  for (const ConfigSetting& setting : settings) map[setting.key] = setting.value;
  return map;
}

void report_damage_at_end(const LogView& view, Context& context) {
  for (const DamageRange& damage : damage_at_end(context.fs, view)) {
    context.diagnostics.error(damage_error(
        {view.files.segments.back().log_path, damage.position, damage.size, damage.fault, {}, {}}));
  }
}

}  // namespace tk
