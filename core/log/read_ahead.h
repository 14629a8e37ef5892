// Reads what a scan in order will come to next, side by side with it: copying a file's bytes out of the page
// cache takes as long as summing them, so on several cores it must not wait for the walk over the units'
// heads.
//
// Where units begin is not known beforehand, so the pieces are cut by size and overlap: a unit that begins in
// one is mostly whole in it. A piece that does not hold the place that the scan is at is not used, and the
// scan reads for itself.
#pragma once

#include <memory>
#include <mutex>

#include "core/base/buffer.h"
#include "core/io/file_system.h"

namespace tk {

class ReadAhead;

/// Bytes of a file that were read before their turn.
struct AheadBytes {
  /// Whose file it is; null: nothing was read ahead.
  std::shared_ptr<const ReadAhead> of;
  /// Place of the first byte in the file.
  std::uint64_t position = 0;
};

/// Shared by a scan and the threads that read for it.
class ReadAhead : public std::enable_shared_from_this<ReadAhead> {
 public:
  /// Bytes read behind each piece, if nothing else is said. Larger than a batch of a producer's usual size.
  static constexpr std::size_t kOverlap = 32U << 10;

  /// Pieces of `piece` bytes of `file`, up to `end`, each with the first `overlap` bytes of the next one.
  ReadAhead(std::shared_ptr<File> file, std::uint64_t end, std::size_t piece, std::size_t overlap = kOverlap)
      : file_(std::move(file)), end_(end), piece_(piece), overlap_(overlap) {}

  /// Reads the next piece into `bytes`, with room for wide loads behind it; nothing at the end.
  void read(Buffer& bytes, AheadBytes& ahead);
  /// The scan has come to `position`: nothing before it is read any more.
  void passed(std::uint64_t position);

 private:
  const std::shared_ptr<File> file_;
  const std::uint64_t end_;
  const std::size_t piece_;
  const std::size_t overlap_;
  std::mutex mutex_;
  std::uint64_t next_ = 0;  // guarded by mutex_
};

}  // namespace tk
