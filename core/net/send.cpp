#include "core/net/send.h"

#include <sys/sendfile.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace tk::net {
namespace {

/// Copying so much costs less than a system call of its own.
constexpr std::size_t kCopied = 16U << 10;
/// One call sends no more, so that one fast reader does not hold up the others.
constexpr std::size_t kMostAtOnce = 1U << 20;
/// So much goes to one reader that takes all, before the others have their turn.
constexpr std::size_t kTurn = 4U << 20;

}  // namespace

void Chain::close_tail() {
  if (tail_.empty()) return;
  closed_ += tail_.size();
  pieces_.push_back(Piece::of(std::move(tail_)));
  tail_ = Buffer();
}

void Chain::add(Piece piece) {
  if (piece.size() == 0) return;
  if (!piece.file && piece.bytes.size() <= kCopied) return tail_.append(piece.bytes.view());
  close_tail();
  closed_ += piece.size();
  pieces_.push_back(std::move(piece));
}

std::vector<Piece> Chain::take() {
  close_tail();
  closed_ = 0;
  return std::exchange(pieces_, {});
}

void SendQueue::push(std::vector<Piece> pieces) {
  for (Piece& piece : pieces) {
    if (piece.size() == 0) continue;
    if (!piece.file) heap_bytes_ += piece.bytes.size();
    pieces_.push_back(std::move(piece));
  }
}

std::int64_t SendQueue::send_bytes(int socket, const Piece& piece, bool more) {
  const int flags = MSG_NOSIGNAL | (more ? MSG_MORE : 0);
  return ::send(socket, piece.bytes.data() + at_, piece.bytes.size() - at_, flags);
}

std::int64_t SendQueue::send_file(int socket, const Piece& piece) {
  const std::size_t left = std::min<std::size_t>(piece.size() - at_, kMostAtOnce);
  const int from = piece.file->descriptor();
  if (from >= 0) {
    auto position = static_cast<off_t>(piece.position + at_);
    const ssize_t sent = ::sendfile(socket, from, &position, left);
    if (sent == 0) errno = EPIPE;  // the file was cut meanwhile: nothing that is sent now could be right
    return sent == 0 ? -1 : sent;
  }
  Buffer copy;
  copy.resize(std::min(left, kCopied));
  copy.cut(piece.file->read_at(piece.position + at_, {copy.data(), copy.size()}));
  if (copy.empty()) errno = EPIPE;
  return copy.empty() ? -1 : ::send(socket, copy.data(), copy.size(), MSG_NOSIGNAL);
}

SendQueue::Result SendQueue::send(int socket) {
  std::size_t in_this_turn = 0;
  while (!pieces_.empty()) {
    if (in_this_turn >= kTurn) return Result::yields;
    const Piece& piece = pieces_.front();
    const std::int64_t sent =
        piece.file ? send_file(socket, piece) : send_bytes(socket, piece, pieces_.size() > 1);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Result::blocked : Result::broken;
    at_ += static_cast<std::size_t>(sent);
    in_this_turn += static_cast<std::size_t>(sent);
    (piece.file ? sent_from_files_ : sent_from_memory_) += static_cast<std::uint64_t>(sent);
    if (at_ < piece.size()) continue;
    if (!piece.file) heap_bytes_ -= piece.bytes.size();
    at_ = 0;
    pieces_.pop_front();
  }
  return Result::done;
}

}  // namespace tk::net
