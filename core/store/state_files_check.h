// The part of `tk verify` that concerns the state files of tk's own: topics, groups, producers.
#pragma once

#include <string>

#include "core/io/file_system.h"
#include "core/log/problem.h"

namespace tk {

/// Reports, as damage, each of them that cannot be read, since what they hold is nowhere else. (A version of
/// a later release is a note.) Says nothing where there are none.
void check_state_files(FileSystem& fs, const std::string& directory, ProblemCounter& report);

}  // namespace tk
