// Where records of an input end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/bytes.h"

namespace tk {

/// A delimiter of one or more bytes, found from the left: in "aaa" the delimiter "aa" ends one record, at
/// byte 2.
class Delimiter {
 public:
  /// An empty text is found nowhere.
  explicit Delimiter(std::string text);

  [[nodiscard]] std::string_view text() const { return text_; }
  /// The end of the last delimiter in `bytes` (just behind it); `boundary` if there is none. `boundary` is
  /// the end of the last delimiter known so far, and no delimiter behind it ends at or before `searched`.
  [[nodiscard]] std::size_t last_end(ByteView bytes, std::size_t boundary, std::size_t searched) const;

 private:
  [[nodiscard]] std::size_t last_backwards(ByteView bytes, std::size_t from, std::size_t boundary) const;
  [[nodiscard]] std::size_t last_forwards(ByteView bytes, std::size_t from, std::size_t boundary) const;

  std::string text_;
  /// Two of them can overlap, so which one counts is known only from the left.
  bool overlaps_itself_ = false;
};

}  // namespace tk
