// Fewer system calls and switches between the two ends of a pipe.
#pragma once

#include <fcntl.h>

namespace tk {

/// Enlarges the buffer of a pipe to 1 MiB. Anything else than a pipe, and a system that does not permit it,
/// is left as it is: everything works without, only slower.
inline void enlarge_pipe(int descriptor) {
  constexpr int wanted = 1 << 20;
  const int now = ::fcntl(descriptor, F_GETPIPE_SZ);
  if (now > 0 && now < wanted) (void)::fcntl(descriptor, F_SETPIPE_SZ, wanted);
}

}  // namespace tk
