// Looks at the units of a .log at given positions, as the entries of an index say.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/buffer.h"
#include "core/format/record_decoder.h"
#include "core/io/file_system.h"

namespace tk {

/// A unit as its head says, unverified.
struct UnitHead {
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  UnitKind kind = UnitKind::batch;
  Offset last_offset;

  [[nodiscard]] std::uint64_t end() const { return position + size; }
};

/// Reads in windows, so that hopping from head to head costs few system calls. For one thread.
class LogCursor {
 public:
  explicit LogCursor(std::unique_ptr<File> file) : file_(std::move(file)), size_(file_->size()) {}

  /// The unit at `position`; nothing if none begins there or it does not fit the file.
  std::optional<UnitHead> head_at(std::uint64_t position);
  /// The first unit from `position` on that ends at `offset` or above; nothing if there is none before the
  /// end or before a place where no unit begins.
  std::optional<UnitHead> find(std::uint64_t position, Offset offset);
  /// The largest timestamp of the unit's records, -1 without any; what its header says if they cannot be
  /// read.
  std::int64_t max_timestamp(const UnitHead& head);

 private:
  ByteView window_at(std::uint64_t position, std::size_t bytes);

  std::unique_ptr<File> file_;
  std::uint64_t size_;
  Buffer window_;
  std::uint64_t window_position_ = 0;
  Buffer unit_;
  RecordDecoder decoder_;
};

}  // namespace tk
