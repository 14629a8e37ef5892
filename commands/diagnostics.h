// The lines on stderr that begin with `tk: `, and what they add up to as an exit code.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tk {

/// The more telling of two exit codes of commands: usage (2) over damage (3) over refused (4) over failed (1)
/// over 0.
int worse_exit_code(int a, int b);

/// The text lines of an error: "tk: error: MESSAGE", then where, then the hint, each with a line feed. Bytes
/// that are not printable appear as \xNN.
std::string error_text(const Error& error);
/// {"error":CODE,"message":...,"path":...,"position":...} and a line feed.
std::string error_json(const Error& error);

/// Messages for people. Each call writes whole lines at once; what cannot be written is lost without a trace.
/// For one thread.
class Diagnostics {
 public:
  /// `quiet` leaves notes out; `verbose` lets details through.
  Diagnostics(bool quiet, bool verbose) : quiet_(quiet), verbose_(verbose) {}
  virtual ~Diagnostics() = default;
  Diagnostics(const Diagnostics&) = delete;
  Diagnostics& operator=(const Diagnostics&) = delete;

  [[nodiscard]] bool is_verbose() const { return verbose_; }
  /// A line of a log that was asked for: always.
  void log(std::string_view text);
  /// Only with -v.
  void detail(std::string_view text);
  /// Worth knowing, nothing wrong: not with -q.
  void note(std::string_view text);
  /// Something is off, the command goes on.
  void warning(std::string_view text);
  /// One of several things failed and the rest goes on; counts for exit_code().
  void error(const Error& error);

  /// The exit code of the errors reported, 0 without any; worst_error() is the first that has it.
  [[nodiscard]] int exit_code() const;
  [[nodiscard]] const std::optional<Error>& worst_error() const { return worst_; }

 protected:
  /// Writes `lines`, which end in a line feed.
  virtual void emit(std::string_view lines) = 0;

 private:
  void line(std::string_view head, std::string_view text);

  bool quiet_;
  bool verbose_;
  std::optional<Error> worst_;
};

}  // namespace tk
