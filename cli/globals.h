// The options that every command takes, before or after its name, and what the environment says instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_spec.h"
#include "cli/terminal.h"
#include "core/format/topic_format.h"

namespace tk::cli {

struct GlobalOptions {
  std::optional<std::string> directory;
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  ColorMode color = ColorMode::automatic;
  std::int64_t lock_timeout_ms = 10000;
  /// The frozen time, ms.
  std::optional<std::int64_t> at;
};

/// Adds them to what `spec` has; a command's own --json takes the place of the global one.
void bind_globals(CommandSpec& spec, GlobalOptions& options);

/// What may stand before the command: the global options and --version.
void bind_top(CommandSpec& spec, GlobalOptions& options);

/// What the environment sets. A value that makes no sense is a usage error.
struct Environment {
  /// $TK_DIR; empty counts as not set, as in the others.
  std::optional<std::string> directory;
  /// $TK_NOW, ms since the epoch.
  std::optional<std::int64_t> now_ms;
  /// $TK_FORMAT.
  std::optional<TopicFormat> format;
};
Environment read_environment();

}  // namespace tk::cli
