#include "core/io/line_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/io/pipe_size.h"

namespace tk {
namespace {

constexpr std::size_t kLeastRead = 256U << 10;

Error input_error(const std::string& name, int error_number) {
  if (error_number != EBADF) return system_error("read", name, error_number);
  return Error(ErrorCode::storage_error, fmt::format("cannot read: {} is closed", name))
      .at(name)
      .hint("give a file, or redirect the input from one");
}

}  // namespace

/// How long this call may still wait. Time runs from the first moment at which the input had nothing: input
/// that keeps flowing costs no look at the clock.
struct ChunkReader::Patience {
  static constexpr std::int64_t kNotSet = std::numeric_limits<std::int64_t>::min();

  std::int64_t wait_ms;
  std::int64_t linger_ms;
  /// When the first pause without, and the first one with complete records must end.
  std::int64_t wait_until = kNotSet;
  std::int64_t linger_until = kNotSet;

  /// What is left, as poll() takes it; -1: without end.
  int left_ms(bool complete) {
    if (!complete && wait_ms < 0) return -1;
    const std::int64_t now = monotonic_ms();
    std::int64_t& until = complete ? linger_until : wait_until;
    if (until == kNotSet) {
      const std::int64_t longest = std::numeric_limits<std::int64_t>::max() - now;
      until = now + std::clamp<std::int64_t>(complete ? linger_ms : wait_ms, 0, longest);
    }
    return static_cast<int>(std::clamp<std::int64_t>(until - now, 0, std::numeric_limits<int>::max()));
  }
};

ChunkReader::ChunkReader(int descriptor, std::string name, ChunkOptions options)
    : descriptor_(descriptor),
      name_(std::move(name)),
      options_(std::move(options)),
      delimiter_(options_.delimiter),
      least_read_(std::clamp<std::size_t>(options_.chunk_size / 4, 1, kLeastRead)) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) throw input_error(name_, errno);
  may_pause_ = !S_ISREG(found.st_mode);
  enlarge_pipe(descriptor);
}

Got ChunkReader::next(InputChunk& chunk, std::int64_t wait_ms) {
  take_carried(chunk);
  // What was carried holds no whole delimiter.
  std::size_t boundary = 0;
  std::size_t searched = chunk.size_;
  Patience patience{wait_ms, options_.linger_ms};
  while (!ended_) {
    const bool complete = boundary > 0;
    if (complete && chunk.size_ + least_read_ > options_.chunk_size) return hand_out(chunk, boundary, false);
    if (may_pause_ && wait_for_input(patience, complete) == Wait::over) {
      return hand_out(chunk, boundary, true);
    }
    if (!read_more(chunk)) continue;
    boundary = delimiter_.last_end(chunk.bytes(), boundary, searched);
    searched = chunk.size_;
    if (boundary == 0) require_bounded(chunk);
  }
  if (chunk.size_ == 0) return Got::end;
  chunk.unterminated_ = boundary != chunk.size_;
  return hand_out(chunk, chunk.size_, false);
}

void ChunkReader::take_carried(InputChunk& chunk) {
  std::swap(chunk, carried_);
  carried_.size_ = 0;
  chunk.unterminated_ = false;
  chunk.input_paused_ = false;
}

ChunkReader::Wait ChunkReader::wait_for_input(Patience& patience, bool complete) const {
  pollfd input{descriptor_, POLLIN, 0};
  if (::poll(&input, 1, 0) > 0) return Wait::ready;
  // An end, an error or a closed descriptor is "ready", too: reading will tell. A failure of poll() itself is
  // a signal.
  const int left_ms = patience.left_ms(complete);
  return left_ms != 0 && ::poll(&input, 1, left_ms) > 0 ? Wait::ready : Wait::over;
}

std::size_t ChunkReader::size_limit() const {
  const std::size_t slack = delimiter_.text().size() + std::max(options_.chunk_size, least_read_);
  return options_.max_record > SIZE_MAX - slack ? SIZE_MAX : options_.max_record + slack;
}

std::size_t ChunkReader::make_room(InputChunk& chunk) const {
  auto& room = chunk.room_;
  if (room.size() < options_.chunk_size) room.resize(options_.chunk_size);
  if (chunk.size_ + least_read_ <= options_.chunk_size) return options_.chunk_size - chunk.size_;
  if (room.size() - chunk.size_ < least_read_) {
    const std::size_t doubled = std::min(room.size() * 2, size_limit());
    room.resize(std::max(doubled, chunk.size_ + least_read_));
  }
  return std::min(room.size(), std::max(size_limit(), chunk.size_ + least_read_)) - chunk.size_;
}

bool ChunkReader::read_more(InputChunk& chunk) {
  const std::size_t room = make_room(chunk);
  for (;;) {
    const ssize_t got = ::read(descriptor_, chunk.room_.data() + chunk.size_, room);
    if (got >= 0) {
      ended_ = got == 0;
      chunk.size_ += static_cast<std::size_t>(got);
      return true;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return false;
    if (errno != EINTR) throw input_error(name_, errno);
  }
}

void ChunkReader::require_bounded(const InputChunk& chunk) {
  // The bytes at the end may be the beginning of the delimiter.
  const std::size_t begun = delimiter_.text().empty() ? 0 : delimiter_.text().size() - 1;
  if (chunk.size_ <= begun || chunk.size_ - begun <= options_.max_record) return;
  ended_ = true;
  throw Error(ErrorCode::message_too_large,
              fmt::format("a record of the input is longer than {} bytes", options_.max_record))
      .at(name_, chunk.position_);
}

Got ChunkReader::hand_out(InputChunk& chunk, std::size_t boundary, bool paused) {
  if (boundary == 0) {
    std::swap(chunk, carried_);
    chunk.size_ = 0;
    return Got::pause;
  }
  const std::size_t rest = chunk.size_ - boundary;
  if (carried_.room_.size() < rest) carried_.room_.resize(std::max(rest, options_.chunk_size));
  if (rest > 0) std::memcpy(carried_.room_.data(), chunk.room_.data() + boundary, rest);
  carried_.size_ = rest;
  carried_.position_ = chunk.position_ + boundary;
  carried_.unterminated_ = false;
  chunk.size_ = boundary;
  chunk.input_paused_ = paused;
  return Got::chunk;
}

Descriptor open_input(const std::string& path) {
  for (;;) {
    Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (opened.get() >= 0) return opened;
    if (errno != EINTR) throw system_error("open", path, errno);
  }
}

}  // namespace tk
