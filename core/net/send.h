// What goes out on a socket: bytes, and parts of files that the kernel sends by itself (sendfile).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "core/base/buffer.h"
#include "core/io/file_system.h"

namespace tk::net {

/// Bytes, or with `file` a range of it.
struct Piece {
  Buffer bytes;
  std::shared_ptr<File> file;
  std::uint64_t position = 0;
  std::uint64_t length = 0;

  [[nodiscard]] std::size_t size() const { return file ? static_cast<std::size_t>(length) : bytes.size(); }
  static Piece of(std::shared_ptr<File> from, std::uint64_t at, std::uint64_t count) {
    Piece piece;
    piece.file = std::move(from);
    piece.position = at;
    piece.length = count;
    return piece;
  }
  static Piece of(Buffer content) {
    Piece piece;
    piece.bytes = std::move(content);
    return piece;
  }
};

/// Pieces in a row that are being put together; bytes are appended at the end.
class Chain {
 public:
  [[nodiscard]] Buffer& bytes() { return tail_; }
  /// Small pieces of bytes are copied.
  void add(Piece piece);
  [[nodiscard]] std::size_t size() const { return closed_ + tail_.size(); }
  /// All pieces; the chain is empty then.
  std::vector<Piece> take();

 private:
  void close_tail();

  std::vector<Piece> pieces_;
  Buffer tail_;
  std::size_t closed_ = 0;
};

/// The pieces that wait for one socket.
class SendQueue {
 public:
  enum class Result : std::uint8_t {
    done,     // nothing is left
    blocked,  // the socket takes no more now
    yields,   // it would take more, but others wait
    broken,   // the peer has gone, or a file is shorter than it was
  };

  void push(std::vector<Piece> pieces);
  Result send(int socket);
  [[nodiscard]] bool empty() const { return pieces_.empty(); }
  /// Bytes in memory that wait; file ranges do not count.
  [[nodiscard]] std::size_t heap_bytes() const { return heap_bytes_; }
  /// Bytes that have gone out so far.
  [[nodiscard]] std::uint64_t sent_from_files() const { return sent_from_files_; }
  [[nodiscard]] std::uint64_t sent_from_memory() const { return sent_from_memory_; }

 private:
  std::int64_t send_bytes(int socket, const Piece& piece, bool more);
  std::int64_t send_file(int socket, const Piece& piece);

  std::deque<Piece> pieces_;
  std::size_t at_ = 0;  // how much of the first one is gone
  std::size_t heap_bytes_ = 0;
  std::uint64_t sent_from_files_ = 0;
  std::uint64_t sent_from_memory_ = 0;
};

}  // namespace tk::net
