// The process's descriptors: how many there may be, and what keeps a closed standard stream from becoming
// somebody else's file.
#pragma once

#include <cstdint>

namespace tk {

/// Fills descriptors 0, 1 and 2 where the caller closed them (`tk ... >&-`), so that no segment is ever
/// opened under such a number and written to as if it were standard output. Reading such an input or writing
/// to such an output fails with EBADF, as if it were still closed. Call it first in main().
void guard_standard_descriptors();

/// Raises the number of files that this process may have open to what the system allows it (from the soft
/// limit to the hard one), and returns that.
std::int64_t raise_descriptor_limit();

}  // namespace tk
