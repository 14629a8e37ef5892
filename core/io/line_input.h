// Input cut into chunks of whole records, at the speed of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "core/base/buffer.h"
#include "core/io/delimiter.h"
#include "core/io/descriptor.h"

namespace tk {

/// One piece of input: whole records, each with its delimiter, but for the very last of the input. The caller
/// keeps it and hands it in again; its memory is reused.
class InputChunk {
 public:
  [[nodiscard]] ByteView bytes() const { return {room_.data(), size_}; }
  /// Where in the input its first byte was.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  /// The last record has no delimiter, as the input ended before one.
  [[nodiscard]] bool unterminated() const { return unterminated_; }
  /// The input had no more to give when this was handed out: who collects records should not wait for others.
  [[nodiscard]] bool input_paused() const { return input_paused_; }

 private:
  friend class ChunkReader;
  /// Never shrinks. The content is the first size_ bytes.
  Buffer room_;
  std::size_t size_ = 0;
  std::uint64_t position_ = 0;
  bool unterminated_ = false;
  bool input_paused_ = false;
};

struct ChunkOptions {
  /// What ends a record; empty: the whole input is one record.
  std::string delimiter = "\n";
  /// How large a chunk is at most, unless a single record is larger; at least 1.
  std::size_t chunk_size = 1U << 20;
  /// A longer record (without its delimiter) ends the reading before much more than that is in memory.
  /// Records that a chunk contains whole are not measured.
  std::size_t max_record = std::numeric_limits<std::size_t>::max();
  /// How long complete records wait for more input once it pauses, ms.
  std::int64_t linger_ms = 5;
};

enum class Got : std::uint8_t {
  chunk,  // some whole records
  pause,  // nothing complete yet
  end,    // the input is over, and all of it was handed out
};

class ChunkReader {
 public:
  /// Reads from `descriptor`, which stays the caller's. `name` is how messages call it: "standard input" or a
  /// path.
  ChunkReader(int descriptor, std::string name, ChunkOptions options = {});

  /// Fills the chunk with whole records, as many as are there, up to the chunk size.
  ///
  /// When the input pauses with complete records at hand, they are handed out after `linger_ms` at the
  /// latest; with none, `pause` is returned after `wait_ms` (negative: never; 0: only what is there is
  /// taken), so that the caller can do something else and come back. A signal ends either wait at once. After
  /// `end` every call says `end`.
  ///
  /// Throws Error(message_too_large), with the position of the record in the input, for a record above
  /// `max_record`; Error(storage_error) if reading fails or standard input is closed.
  Got next(InputChunk& chunk, std::int64_t wait_ms = -1);

 private:
  enum class Wait : std::uint8_t { ready, over };
  struct Patience;

  [[nodiscard]] Wait wait_for_input(Patience& patience, bool complete) const;
  void take_carried(InputChunk& chunk);
  /// How many bytes the next read may bring.
  std::size_t make_room(InputChunk& chunk) const;
  /// False if the input, a non-blocking one, has nothing after all.
  bool read_more(InputChunk& chunk);
  void require_bounded(const InputChunk& chunk);
  [[nodiscard]] std::size_t size_limit() const;
  Got hand_out(InputChunk& chunk, std::size_t boundary, bool paused);

  int descriptor_;
  std::string name_;
  ChunkOptions options_;
  Delimiter delimiter_;
  /// The least room a read should have.
  std::size_t least_read_;
  /// Reading a regular file never waits, so asking is needless.
  bool may_pause_ = true;
  bool ended_ = false;
  /// The begun record behind the last chunk. It trades its memory with the caller's chunk, so that even a
  /// huge begun record is never copied because of a pause.
  InputChunk carried_;
};

/// Opens a file, or whatever else can be read, as input. Throws Error(storage_error).
Descriptor open_input(const std::string& path);

}  // namespace tk
