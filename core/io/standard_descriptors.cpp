#include "core/io/standard_descriptors.h"

#include <fcntl.h>

#include <cerrno>

namespace tk {

void guard_standard_descriptors() {
  for (int number = 0; number < 3; ++number) {
    if (::fcntl(number, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is given, and all below are taken, so this open lands on `number`. The mode is
    // the one that does not serve the stream: every use still fails.
    (void)::open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace tk
