#include "core/net/directory_events.h"

#include <sys/inotify.h>
#include <unistd.h>

#include "core/base/error.h"

#include <array>
#include <cerrno>

namespace tk::net {
namespace {

int open_inotify() {
  const int number = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (number < 0) throw system_error("watch directories", "inotify", errno);
  return number;
}

}  // namespace

DirectoryEvents::DirectoryEvents(Loop& loop) : descriptor_(open_inotify()), watch_(loop, descriptor_.get()) {
  wait();
}

bool DirectoryEvents::add(const std::string& directory, Handler handler) {
  constexpr std::uint32_t what = IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE;
  const int number = ::inotify_add_watch(descriptor_.get(), directory.c_str(), what);
  if (number < 0) return false;
  handlers_[number] = std::move(handler);
  numbers_[directory] = number;
  return true;
}

void DirectoryEvents::remove(const std::string& directory) {
  const auto at = numbers_.find(directory);
  if (at == numbers_.end()) return;
  ::inotify_rm_watch(descriptor_.get(), at->second);
  handlers_.erase(at->second);
  numbers_.erase(at);
}

void DirectoryEvents::wait() {
  watch_.when_readable([this] { read(); });
}

void DirectoryEvents::read() {
  alignas(inotify_event) std::array<char, 16384> bytes;
  const ssize_t got = ::read(descriptor_.get(), bytes.data(), bytes.size());
  for (ssize_t at = 0; at < got;) {
    const auto* const event = reinterpret_cast<const inotify_event*>(bytes.data() + at);
    at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    if ((event->mask & IN_Q_OVERFLOW) != 0) {
      const auto all = handlers_;
      for (const auto& [number, handler] : all) handler({"", true});
      continue;
    }
    const auto found = handlers_.find(event->wd);
    if (found == handlers_.end() || event->len == 0) continue;
    const Handler handler = found->second;
    handler({event->name, (event->mask & IN_MODIFY) == 0});
  }
  wait();
}

}  // namespace tk::net
