#include "core/net/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/base/clock.h"

namespace tk::net {
namespace {

constexpr std::size_t kScratch = 64U << 10;
constexpr std::size_t kLargestRead = 1U << 20;
constexpr int kReadsInARow = 4;
constexpr std::int64_t kStalledSendMs = 60000;
/// Whoever sends a request more slowly than this, all in all, only holds memory.
constexpr std::int64_t kSlowestBytesPerMs = 16;

/// Where bytes of a connection without any arrive: one for all, as only the loop reads.
std::array<std::uint8_t, kScratch> scratch;

}  // namespace

Connection::Connection(ConnectionHost& host, Descriptor socket, Address peer, Address local)
    : host_(host), socket_(std::move(socket)), peer_(std::move(peer)), local_(std::move(local)) {
  last_in_ms_ = last_out_ms_ = monotonic_ms();
}

Connection::~Connection() {
  hold(0);
}

void Connection::start() {
  watch_ = std::make_unique<Loop::Watch>(host_.loop(), socket_.get());
  wait_readable();
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  watch_.reset();
  input_ = Buffer();
  hold(0);
  out_ = SendQueue();
  note_unsent();
  socket_ = Descriptor();
  if (host_.favoured == this) host_.favoured = nullptr;
  on_close();
  host_.closed(*this);
}

void Connection::close_when_sent() {
  if (out_.empty()) return close();
  closing_ = true;
}

void Connection::hold(std::size_t bytes) {
  host_.request_bytes = host_.request_bytes - held_ + bytes;
  held_ = bytes;
}

void Connection::note_unsent() {
  host_.unsent_bytes = host_.unsent_bytes - held_unsent_ + out_.heap_bytes();
  held_unsent_ = out_.heap_bytes();
}

bool Connection::may_read() const {
  if (closed_ || closing_ || !takes_more() || out_.heap_bytes() > kMostUnsent) return false;
  if (!host_.is_crowded() || host_.favoured == this || host_.favoured == nullptr) return true;
  // Small requests get in beside those that fill the memory, as long as they are whole at once.
  return !unfinished() && host_.request_bytes < 2 * static_cast<std::size_t>(host_.options().request_memory);
}

void Connection::wait_readable() {
  // One that takes nothing now is watched all the same, for its peer may leave.
  if (reading_ || closed_ || (!may_read() && more_waits_)) return;
  if (host_.is_crowded() && host_.favoured == nullptr) host_.favoured = this;
  reading_ = true;
  watch_->when_readable([self = weak_from_this()] {
    if (const auto connection = self.lock()) {
      connection->reading_ = false;
      connection->read();
    }
  });
}

void Connection::read() {
  if (closed_ || in_read_) return;
  const auto self = shared_from_this();
  if (!may_read()) {
    std::uint8_t byte = 0;
    const ssize_t got = ::recv(socket_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return close();
    more_waits_ = got > 0;
    return wait_readable();
  }
  more_waits_ = false;
  in_read_ = true;
  for (int i = 0; i < kReadsInARow && may_read(); ++i) {
    if (!read_once()) break;
  }
  in_read_ = false;
  if (host_.favoured == this && !unfinished()) host_.favoured = nullptr;
  wait_readable();
}

// Where memory is short for one request, one connection is lost and not the server.
std::size_t Connection::consume_or_close(ByteView input) {
  try {
    return consume(input);
  } catch (const std::exception&) {
    close();
    return 0;
  }
}

// True if there may be more at once.
bool Connection::read_once() {
  const bool direct = !input_.empty();
  const std::size_t asked = direct ? std::clamp(missing(), kScratch, kLargestRead) : scratch.size();
  std::uint8_t* const to = direct ? input_.room(asked) : scratch.data();
  const ssize_t got = ::recv(socket_.get(), to, asked, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
  if (got <= 0) {
    close();
    return false;
  }
  const auto count = static_cast<std::size_t>(got);
  last_in_ms_ = monotonic_ms();
  arrived_ += count;
  host_.received(count);
  if (direct) input_.commit(count);
  const ByteView all = direct ? input_.view() : ByteView(scratch.data(), count);
  const std::size_t used = consume_or_close(all);
  if (closed_) return false;
  if (used == all.size()) {
    input_ = Buffer();
  } else if (direct) {
    std::memmove(input_.data(), input_.data() + used, input_.size() - used);
    input_.cut(input_.size() - used);
  } else {
    input_.append(all.subspan(used));
  }
  hold(input_.size());
  note_begun();
  return count == asked;
}

void Connection::note_begun() {
  if (!unfinished()) begun_ms_ = 0;
  if (!unfinished() || begun_ms_ != 0) return;
  begun_ms_ = last_in_ms_;
  arrived_ = input_.size();
}

void Connection::resume() {
  if (closed_ || in_read_) return;
  if (may_read()) more_waits_ = false;
  if (!input_.empty() && may_read()) {
    in_read_ = true;
    const auto self = shared_from_this();
    const std::size_t used = consume_or_close(input_.view());
    in_read_ = false;
    if (closed_) return;
    std::memmove(input_.data(), input_.data() + used, input_.size() - used);
    input_.cut(input_.size() - used);
    if (input_.empty()) input_ = Buffer();
    hold(input_.size());
    note_begun();
  }
  wait_readable();
}

void Connection::send(std::vector<Piece> pieces) {
  if (closed_) return;
  if (out_.empty()) last_out_ms_ = monotonic_ms();
  out_.push(std::move(pieces));
  note_unsent();
  if (!writing_) flush();
}

void Connection::flush() {
  if (closed_) return;
  const std::uint64_t files = out_.sent_from_files(), memory = out_.sent_from_memory();
  const SendQueue::Result result = out_.send(socket_.get());
  note_unsent();
  if (out_.sent_from_files() + out_.sent_from_memory() != files + memory) {
    last_out_ms_ = monotonic_ms();
    host_.sent(out_.sent_from_files() - files, out_.sent_from_memory() - memory);
  }
  if (result == SendQueue::Result::broken) return close();
  if (result == SendQueue::Result::blocked || result == SendQueue::Result::yields) {
    writing_ = true;
    watch_->when_writable([self = weak_from_this()] {
      if (const auto connection = self.lock()) {
        connection->writing_ = false;
        connection->flush();
      }
    });
    return;
  }
  if (closing_) return close();
  on_sent();
  if (!closed_) resume();
}

// Without a byte for its limit, or too few of them since the first one.
bool Connection::is_too_slow(std::int64_t now_ms) const {
  if (now_ms - last_in_ms_ > stall_limit_ms()) return true;
  return begun_ms_ != 0 &&
         now_ms - begun_ms_ > stall_limit_ms() + static_cast<std::int64_t>(arrived_) / kSlowestBytesPerMs;
}

void Connection::check(std::int64_t now_ms) {
  if (closed_) return;
  if (!out_.empty() && now_ms - last_out_ms_ > kStalledSendMs) return close();
  if (unfinished() && takes_more() && is_too_slow(now_ms)) return close();
  if (!busy() && out_.empty() &&
      now_ms - std::max(last_in_ms_, last_out_ms_) > host_.options().idle_connection_ms)
    return close();
  resume();
}

}  // namespace tk::net
