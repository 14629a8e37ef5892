// The standard descriptors: diagnostics to stderr, colour.
#pragma once

#include <cstdint>
#include <string_view>

#include "commands/diagnostics.h"

namespace tk::cli {

/// Writes all of `text` to a descriptor; false, with errno, when that fails.
bool write_fully(int descriptor, std::string_view text);

class StderrDiagnostics final : public Diagnostics {
 public:
  StderrDiagnostics(bool quiet, bool verbose, bool color) : Diagnostics(quiet, verbose), color_(color) {}
  /// The JSON line of the worst error, if there was one: the last line of a failure with --json.
  void finish_json();

 protected:
  void emit(std::string_view lines) override;

 private:
  bool color_;
};

enum class ColorMode : std::uint8_t { automatic, always, never };
/// Whether to write colour to `descriptor`: on a terminal unless NO_COLOR is set or TERM is "dumb"; an
/// explicit mode wins.
bool use_color(ColorMode mode, int descriptor);

}  // namespace tk::cli
