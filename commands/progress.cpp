#include "commands/progress.h"

#include <fmt/format.h>
#include <unistd.h>

namespace tk {
namespace {

constexpr std::int64_t kQuietMs = 1000;
constexpr std::int64_t kEveryMs = 100;
constexpr double kMiB = 1048576.0;

void put(const std::string& text) {
  // A terminal that is gone is no reason to fail.
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace

Progress::Progress(const Context& context, std::string verb)
    : active_(context.stderr_is_terminal && !context.quiet),
      verb_(std::move(verb)),
      started_ms_(monotonic_ms()),
      shown_ms_(started_ms_ + kQuietMs - kEveryMs) {}

Progress::~Progress() {
  if (visible_) put("\r\x1b[K");
}

void Progress::update(std::uint64_t bytes) {
  if (!active_) return;
  const std::int64_t now = monotonic_ms();
  if (now - shown_ms_ < kEveryMs) return;
  shown_ms_ = now;
  visible_ = true;
  const double mib = static_cast<double>(bytes) / kMiB;
  const auto elapsed = static_cast<double>(now - started_ms_);
  std::string text = fmt::format("\r{} {:.0f} MiB, {:.0f} MiB/s", verb_, mib, mib * 1000.0 / elapsed);
  if (total_ > bytes && bytes > 0) {
    const double share = static_cast<double>(bytes) / static_cast<double>(total_);
    text += fmt::format(", {:.0f} % of {:.0f} MiB, {:.0f} s left", 100.0 * share,
                        static_cast<double>(total_) / kMiB, elapsed * (1.0 / share - 1.0) / 1000.0);
  }
  put(text + "\x1b[K");
}

}  // namespace tk
