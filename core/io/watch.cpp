#include "core/io/watch.h"

#include <poll.h>
#include <sys/inotify.h>

namespace tk {

namespace {
/// How long to trust in events: a network file system reports none.
constexpr std::int64_t kSlowPollMs = 1000;
}  // namespace

DirectoryWatch::DirectoryWatch() : descriptor_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {}

void DirectoryWatch::add(const std::string& directory) {
  if (descriptor_.get() < 0) return;
  inotify_add_watch(descriptor_.get(), directory.c_str(),
                    IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF);
}

DirectoryWatch::Event DirectoryWatch::wait(std::int64_t timeout_ms) {
  const std::int64_t limit = timeout_ms < 0 || timeout_ms > kSlowPollMs ? kSlowPollMs : timeout_ms;
  pollfd waiting{descriptor_.get(), POLLIN, 0};
  if (poll(&waiting, 1, static_cast<int>(limit)) <= 0)
    return limit == kSlowPollMs ? Event::made : Event::none;
  Event event = Event::written;
  alignas(inotify_event) char events[16384];
  for (ssize_t got = read(descriptor_.get(), events, sizeof events); got > 0;
       got = read(descriptor_.get(), events, sizeof events)) {
    for (ssize_t at = 0; at < got;) {
      const auto* one = reinterpret_cast<const inotify_event*>(events + at);
      if ((one->mask & (IN_CREATE | IN_MOVED_TO | IN_Q_OVERFLOW)) != 0) event = Event::made;
      at += static_cast<ssize_t>(sizeof(inotify_event)) + static_cast<ssize_t>(one->len);
    }
  }
  return event;
}

}  // namespace tk
