// Input that cannot be read at any position (a pipe), copied to a file without a name.
#pragma once

#include <string>

#include "core/io/descriptor.h"

namespace tk {

/// The file of a copy; it is gone with this object.
struct SpooledInput {
  Descriptor descriptor;
  /// Opens it for as long as the descriptor lives.
  std::string path;
};

/// True if `path` is a pipe, a terminal or the like, or "-", which stands for standard input.
bool needs_spooling(const std::string& path);

/// Copies all of the input ("-": standard input) into a file below $TMPDIR, else /tmp. Throws storage_error.
SpooledInput spool_input(const std::string& path);

}  // namespace tk
