#include "core/io/output.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/base/error.h"
#include "core/io/pipe_size.h"

namespace tk {

OutputStream::OutputStream(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)) {
  enlarge_pipe(descriptor);
  collected_.reserve(kCollected);
}

void OutputStream::write(std::string_view text) {
  if (closed_) return;
  if (collected_.size() + text.size() <= kCollected) {
    collected_.insert(collected_.end(), text.begin(), text.end());
    return;
  }
  if (text.size() >= kCollected) {
    const std::string_view before(collected_.data(), collected_.size());
    send(before, text);
    collected_.clear();
    return;
  }
  flush();
  if (!closed_) collected_.assign(text.begin(), text.end());
}

void OutputStream::flush() {
  if (!closed_ && !collected_.empty()) send({collected_.data(), collected_.size()}, {});
  collected_.clear();
}

bool OutputStream::reader_gone() {
  if (closed_) return true;
  pollfd waiting{descriptor_, 0, 0};
  // POLLERR on the writing end of a pipe: there is no reader left. (A socket says POLLHUP.)
  closed_ = ::poll(&waiting, 1, 0) > 0 && (waiting.revents & (POLLERR | POLLHUP)) != 0;
  return closed_;
}

void OutputStream::wait_until_writable() const {
  pollfd waiting{descriptor_, POLLOUT, 0};
  (void)::poll(&waiting, 1, -1);
}

void OutputStream::send(std::string_view first, std::string_view second) {
  while (!first.empty() || !second.empty()) {
    const std::array<iovec, 2> parts{iovec{const_cast<char*>(first.data()), first.size()},
                                     iovec{const_cast<char*>(second.data()), second.size()}};
    const ssize_t put = ::writev(descriptor_, parts.data(), 2);
    if (put < 0) {
      const int reason = errno;
      if (reason == EINTR) continue;
      if (reason == EAGAIN || reason == EWOULDBLOCK) {
        wait_until_writable();
        continue;
      }
      if (reason == EPIPE || reason == ECONNRESET) {
        closed_ = true;
        return;
      }
      // Part of it may be out: sent again by a later flush(), it would come twice.
      collected_.clear();
      throw system_error(fmt::format("write to {}", name_), "", reason);
    }
    auto done = static_cast<std::size_t>(put);
    taken_ += done;
    const std::size_t of_first = std::min(done, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(done - of_first);
  }
}

}  // namespace tk
