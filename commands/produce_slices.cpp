#include "commands/produce_slices.h"

#include <utility>

namespace tk {
namespace {

/// Input that does not pause is cut here: others get their turn, and producers know how far they are.
constexpr std::size_t kSliceBytes = 32U << 20;
constexpr std::int64_t kLookEveryMs = 1000;

}  // namespace

bool InputSlices::wait(const std::function<bool()>& interrupted) {
  while (!input_over_ && !interrupted()) {
    const Got got = source_.take(first_, kLookEveryMs, first_name_, first_restart_);
    if (got == Got::pause) continue;
    if (got == Got::end) break;
    has_first_ = true;
    slice_over_ = false;
    taken_ = 0;
    return true;
  }
  input_over_ = true;
  return false;
}

Got InputSlices::take(InputChunk& chunk, std::int64_t /*wait_ms*/, std::string& name, bool& restart) {
  if (has_first_) {
    std::swap(chunk, first_);
    name = first_name_;
    restart = first_restart_;
    has_first_ = false;
    taken_ = chunk.bytes().size();
    return Got::chunk;
  }
  if (slice_over_ || taken_ >= kSliceBytes) {
    slice_over_ = true;
    return Got::end;
  }
  const Got got = source_.take(chunk, 0, name, restart);
  if (got == Got::chunk) {
    taken_ += chunk.bytes().size();
    return got;
  }
  slice_over_ = true;
  input_over_ = got == Got::end;
  return Got::end;
}

}  // namespace tk
