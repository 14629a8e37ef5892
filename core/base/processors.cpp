#include "core/base/processors.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace tk {
namespace {

// One system call; the standard library's count opens a file for it, which a short command notices, and
// counts processors that this process may not use.
unsigned ask() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  if (sched_getaffinity(0, sizeof usable, &usable) == 0)
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&usable)));
  return std::max(1U, std::thread::hardware_concurrency());  // more than the set has room for
}

}  // namespace

unsigned usable_processors() {
  static const unsigned count = ask();
  return count;
}

}  // namespace tk
