// Start-up, signals, and the one request that needs nothing else.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "cli/app.h"
#include "cli/terminal.h"
#include "cli/version.h"
#include "core/io/standard_descriptors.h"

namespace {

std::atomic<int> interrupted{0};
std::atomic<int> times_asked{0};
static_assert(std::atomic<int>::is_always_lock_free, "the handler may only touch what is lock-free");

std::atomic<std::int64_t> first_asked_ms{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "the handler may only touch what is lock-free");

// The command sees the flag and ends in order. `timeout` and a terminal may send a signal twice at once; who
// asks again after that means it.
void on_signal(int number) {
  constexpr std::int64_t at_once_ms = 200;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t now_ms = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
  const int asked = times_asked.fetch_add(1);
  if (asked == 0) first_asked_ms.store(now_ms);
  if (asked >= 2 || (asked == 1 && now_ms - first_asked_ms.load() > at_once_ms)) _exit(128 + number);
  interrupted.store(number);
}

void set_up_signals() {
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
  sigaction(SIGXFSZ, &ignore, nullptr);  // a file size limit is a failed write like a full disk
  // No SA_RESTART: a read that waits for input must return. Installed even where the parent ignores SIGINT,
  // as a plain shell does for its background jobs: who sends the signal to such a job wants it to end in
  // order.
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction ours = {};
    ours.sa_handler = on_signal;
    sigemptyset(&ours.sa_mask);
    sigaction(number, &ours, nullptr);
  }
}

int print_version() {
  if (tk::cli::write_fully(STDOUT_FILENO, tk::cli::version_text()) || errno == EPIPE) return 0;
  const std::string message =
      std::string("tk: error: cannot write to standard output: ") + std::strerror(errno) + "\n";
  (void)tk::cli::write_fully(STDERR_FILENO, message);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  tk::guard_standard_descriptors();
  set_up_signals();
  if (argc == 2 && std::string_view(argv[1]) == "--version") return print_version();
  return tk::cli::run_command_line({argv + (argc > 0 ? 1 : 0), argv + argc}, interrupted);
}
