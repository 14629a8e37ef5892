#include "commands/progress.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tk {
namespace {

constexpr std::int64_t kQuietMs = 1000;
constexpr std::int64_t kEveryMs = 100;

void put(const std::string& text) {
  // A terminal that is gone is no reason to fail.
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

}  // namespace

bool output_is_file() {
  struct stat found {};
  return ::fstat(STDOUT_FILENO, &found) == 0 && S_ISREG(found.st_mode);
}

Progress::Progress(const Context& context, std::string verb, ProgressUnit unit, bool wanted)
    : active_(wanted && context.stderr_is_terminal && !context.quiet),
      verb_(std::move(verb)),
      unit_(unit),
      started_ms_(monotonic_ms()),
      shown_ms_(started_ms_ + kQuietMs - kEveryMs) {}

Progress::~Progress() {
  if (visible_) put("\r\x1b[K");
}

void Progress::update(std::uint64_t done) {
  if (!active_) return;
  done_ = done;
  const std::int64_t now = monotonic_ms();
  if (now - shown_ms_ < kEveryMs) return;
  shown_ms_ = now;
  visible_ = true;
  const double units = static_cast<double>(done) / unit_.size;
  const auto elapsed = static_cast<double>(now - started_ms_);
  std::string text = fmt::format("\r{} {:.0f} {}, {:.0f} {}/s", verb_, units, unit_.name,
                                 units * 1000.0 / elapsed, unit_.name);
  if (total_ > done && done > 0) {
    const double share = static_cast<double>(done) / static_cast<double>(total_);
    text += fmt::format(", {:.0f} % of {:.0f} {}, {:.0f} s left", 100.0 * share,
                        static_cast<double>(total_) / unit_.size, unit_.name,
                        elapsed * (1.0 / share - 1.0) / 1000.0);
  }
  put(text + "\x1b[K");
}

}  // namespace tk
