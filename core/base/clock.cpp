#include "core/base/clock.h"

#include <ctime>

namespace tk {
namespace {
std::int64_t read_ms(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}
}  // namespace

std::int64_t SystemClock::now_ms() const {
  return read_ms(CLOCK_REALTIME);
}
std::int64_t monotonic_ms() {
  return read_ms(CLOCK_MONOTONIC);
}

}  // namespace tk
