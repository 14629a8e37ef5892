#include "core/base/unquote.h"

#include <atomic>

namespace tk {
namespace {

using Kernel = Unquoted (*)(const char*, const char*, char*);

Unquoted no_step(const char* from, const char*, char* to) {
  return {from, to};
}

Kernel choose() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt")) return unquote_kernel::ssse3;
#endif
  return no_step;
}

/// Chosen at the first use, by whoever comes first: all choose the same.
Unquoted choose_and_copy(const char* from, const char* end, char* to);
std::atomic<Kernel> chosen{choose_and_copy};

Unquoted choose_and_copy(const char* from, const char* end, char* to) {
  const Kernel kernel = choose();
  chosen.store(kernel, std::memory_order_relaxed);
  return kernel(from, end, to);
}

}  // namespace

Unquoted copy_unquoted(const char* from, const char* end, char* to) {
  return chosen.load(std::memory_order_relaxed)(from, end, to);
}

}  // namespace tk
