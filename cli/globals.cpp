#include "cli/globals.h"

#include <cstdlib>

#include "core/base/text.h"

namespace tk::cli {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace

void bind_globals(CommandSpec& spec, GlobalOptions& options) {
  spec.begin_globals();
  spec.value("-d,--dir", "DIR", "the data directory (default: $TK_DIR, else ./tk-data)",
             [&options](const std::string& text) {
               if (text.empty()) usage_error("the name of a directory is empty");
               options.directory = text;
             });
  if (spec.find_long("json") == nullptr) spec.flag("--json", "reports as NDJSON", options.json);
  spec.flag("-q,--quiet", "no progress, no summary, no notes", options.quiet);
  spec.flag("-v,--verbose", "say more on stderr", options.verbose);
  spec.choice<ColorMode>(
      "--color", {{"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}},
      "colour (default: on a terminal, unless NO_COLOR)", options.color);
  spec.value("--lock-timeout", "MS", "wait so long for another tk (default: 10000)",
             [&options](const std::string& text) { options.lock_timeout_ms = parse_number(text); });
  spec.value(
      "--at", "T", "the time of day for this command (default: $TK_NOW, else now)",
      [&options, &spec](const std::string& text) { options.at = parse_time_value(text, spec.now_ms()); });
  spec.flag("-h,--help", "show this help", [] {});
}

void bind_top(CommandSpec& spec, GlobalOptions& options) {
  bind_globals(spec, options);
  spec.flag("--version", "show version, commit and codecs", [] {});
}

Environment read_environment() {
  Environment environment;
  environment.directory = variable("TK_DIR");
  if (const auto now = variable("TK_NOW")) {
    environment.now_ms = parse_int(*now);
    if (!environment.now_ms) usage_error("$TK_NOW: '" + *now + "' is not a time in ms since the epoch");
  }
  if (const auto format = variable("TK_FORMAT")) {
    environment.format = parse_topic_format(*format);
    if (!environment.format) usage_error("$TK_FORMAT: '" + *format + "' is none of json, kafka");
  }
  return environment;
}

}  // namespace tk::cli
