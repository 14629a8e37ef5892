// What a test was doing when a sanitizer or a signal ended it: a loop over random inputs says here which one
// it is at, so that a crash can be repeated.
#pragma once

#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

// The sanitizers' runtime has it; without them it is null.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

// Undefined behaviour ends the process by a signal, on which the test framework still says what it was at.
extern "C" __attribute__((weak, used)) const char* __ubsan_default_options() {
  return "abort_on_error=1:print_stacktrace=1";
}

namespace tk::test {

class LastWords {
 public:
  /// Keeps `text`, and prints it should the process die; a case that takes more than `seconds` of processor
  /// time dies as hung.
  static void are(const std::string& text, unsigned seconds = 60) {
    static const bool installed = install();
    (void)installed;
    std::snprintf(words(), kSize, "died at: %s\n", text.c_str());
    limit(seconds);
  }
  static void none() {
    words()[0] = '\0';
    limit(0);
  }

 private:
  static constexpr std::size_t kSize = 512;
  static void limit(unsigned seconds) {
    const itimerval timer{{0, 0}, {static_cast<time_t>(seconds), 0}};
    setitimer(ITIMER_PROF, &timer, nullptr);
  }
  static char* words() {
    static char text[kSize] = "";
    return text;
  }
  static void print() {
    if (write(STDERR_FILENO, words(), std::strlen(words())) < 0) return;
  }
  static bool install() {
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(print);
    std::signal(SIGPROF, [](int) {
      print();
      std::signal(SIGABRT, SIG_DFL);
      std::abort();
    });
    return true;
  }
};

}  // namespace tk::test
