#pragma once

#include <string_view>

namespace tk::cli {

/// "0.1.0".
std::string_view version_number();
/// The day of the commit it was built from, as 2026-11-30; empty if that is not known.
std::string_view version_date();
/// What `tk --version` prints: version and commit, then the codecs that are built in.
std::string_view version_text();

}  // namespace tk::cli
