// Time as a parameter: the core never asks the system for the time by itself.
#pragma once

#include <cstdint>

namespace tk {

/// The time of day that records and deadlines are given, in ms since the epoch.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::int64_t now_ms() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t now_ms() const override;
};

/// A clock that stands still: `$TK_NOW`, `--at`, tests.
class FixedClock final : public Clock {
 public:
  explicit FixedClock(std::int64_t now_ms) : now_ms_(now_ms) {}
  [[nodiscard]] std::int64_t now_ms() const override { return now_ms_; }
  void set(std::int64_t now_ms) { now_ms_ = now_ms; }

 private:
  std::int64_t now_ms_;
};

/// Milliseconds of a clock that never goes back, for waits (linger, idle and lock timeouts go by real time).
std::int64_t monotonic_ms();

}  // namespace tk
