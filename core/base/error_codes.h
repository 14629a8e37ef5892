// The list of error codes, for who describes them. What throws and catches needs error.h alone.
#pragma once

#include <string_view>
#include <vector>

namespace tk {

/// The names of all codes that end a command with this exit code, in the order of ErrorCode.
std::vector<std::string_view> code_names(int exit);

}  // namespace tk
