// From argv to an exit code.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace tk::cli {

/// Runs the command that `args` (without the program's name) ask for: prints its errors, flushes stdout, and
/// returns the exit code of cli.md §1. `interrupted` is the number of the signal that asked to stop, else 0.
/// Never throws.
int run_command_line(const std::vector<std::string>& args, const std::atomic<int>& interrupted) noexcept;

}  // namespace tk::cli
