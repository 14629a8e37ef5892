// Manual pages, made from the same descriptions that --help shows: tk(1), and a page a command.
#pragma once

#include <string>

namespace tk::cli {

/// The page as man(7) source. `name`: "tk", the first word of two-word commands, or a command; empty: not a
/// page but the names of all, one a line. A usage error if there is no such command.
std::string manual_page(const std::string& name);

}  // namespace tk::cli
