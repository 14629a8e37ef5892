#pragma once

#include <string_view>

namespace tk::cli {

/// What `tk --version` prints: version and commit, then the codecs that are built in.
std::string_view version_text();

}  // namespace tk::cli
