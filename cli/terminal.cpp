#include "cli/terminal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace tk::cli {

bool write_fully(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void StderrDiagnostics::emit(std::string_view lines) {
  constexpr std::string_view kError = "tk: error:";
  if (!color_ || !lines.starts_with(kError)) {
    (void)write_fully(STDERR_FILENO, lines);
    return;
  }
  std::string colored = "\033[1;31m";
  colored += kError;
  colored += "\033[0m";
  colored += lines.substr(kError.size());
  (void)write_fully(STDERR_FILENO, colored);
}

void StderrDiagnostics::finish_json() {
  if (worst_error()) (void)write_fully(STDERR_FILENO, error_json(*worst_error()));
}

bool use_color(ColorMode mode, int descriptor) {
  if (mode != ColorMode::automatic) return mode == ColorMode::always;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return ::isatty(descriptor) == 1;
}

}  // namespace tk::cli
