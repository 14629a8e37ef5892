// What every command is given beside its own options: where the data are, how to report, and the outside
// world.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/format/topic_format.h"

namespace tk {

class Diagnostics;   // commands/diagnostics.h
class FileSystem;    // core/io/file_system.h
class OutputStream;  // core/io/output.h

struct Context {
  /// The data directory (--dir, else $TK_DIR, else "tk-data"), and whether somebody named it.
  std::string directory;
  bool directory_given = false;

  /// NDJSON instead of text on stdout. For `consume` the output is in ConsumeOptions; this is set there, too.
  bool json = false;
  /// No progress and no summary (-q).
  bool quiet = false;
  /// Colour on stdout and on stderr, resolved from --color, NO_COLOR, TERM and what the descriptors are.
  bool color_out = false;
  bool color_err = false;
  bool stderr_is_terminal = false;

  /// How long to wait for another tk's lock, in ms of real time; 0: not at all.
  std::int64_t lock_timeout_ms = 10000;
  /// $TK_FORMAT: the format of topics made without --format. Not an explicit wish: it never contradicts a
  /// topic.
  std::optional<TopicFormat> default_format;

  /// The time of day: the system's, or frozen by --at or $TK_NOW.
  const Clock& clock;
  FileSystem& fs;
  /// Stdout. Main flushes it after the command; what fails there becomes the exit code.
  OutputStream& out;
  /// The `tk: ...` lines on stderr.
  Diagnostics& diagnostics;
  /// The number of the SIGINT or SIGTERM that asked the command to stop, else 0. A command that sees one
  /// makes durable what it acknowledged and returns; main turns the signal into the exit code.
  const std::atomic<int>& interrupted;
};

}  // namespace tk
