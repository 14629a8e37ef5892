// Output to a descriptor that others read: standard output, mostly a pipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tk {

/// Writes texts and blocks in order. Small texts are collected, blocks of 64 KiB and more go out from where
/// they lie.
///
/// A reader that has gone (EPIPE; main() ignores SIGPIPE) is no error but a state: from then on everything
/// written is dropped, and the caller stops quietly once it sees closed(). Any other failure throws
/// Error(storage_error).
class OutputStream {
 public:
  /// Writes to `descriptor`, which stays the caller's; `name` is how messages call it. A pipe is enlarged to
  /// 1 MiB.
  explicit OutputStream(int descriptor, std::string name = "standard output");
  OutputStream(const OutputStream&) = delete;
  OutputStream& operator=(const OutputStream&) = delete;
  /// Drops what was not flushed: a destructor could not report that it is lost, so call flush() before the
  /// end.
  ~OutputStream() = default;

  void write(std::string_view text);
  /// Sends what was collected. Returning without an Error means that the system has taken all that was
  /// written, unless closed().
  void flush();

  /// The reader has gone, as the last write found out.
  [[nodiscard]] bool closed() const { return closed_; }
  /// The same, asked of the system now: for those who wait for something to write, and would never notice.
  bool reader_gone();
  /// Bytes that the descriptor has taken so far; what is collected does not count.
  [[nodiscard]] std::uint64_t taken() const { return taken_; }

 private:
  void send(std::string_view first, std::string_view second);
  void wait_until_writable() const;

  static constexpr std::size_t kCollected = 64U << 10;

  int descriptor_;
  std::string name_;
  std::vector<char> collected_;
  std::uint64_t taken_ = 0;
  bool closed_ = false;
};

}  // namespace tk
