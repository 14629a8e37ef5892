#include "core/io/standard_descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace tk {

void guard_standard_descriptors() {
  for (int number = 0; number < 3; ++number) {
    if (::fcntl(number, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is given, and all below are taken, so this open lands on `number`. The mode is
    // the one that does not serve the stream: every use still fails.
    (void)::open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
  }
}

std::int64_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
  static_cast<void>(::getrlimit(RLIMIT_NOFILE, &limit));
  return static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
}

}  // namespace tk
