// What the parsers of Kafka's text files share: damage as a value, and the lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tk {

/// Why a text file cannot be taken.
struct TextFault {
  /// The line, from 1; 0 where no single line is to blame.
  std::size_t line = 0;
  std::string reason;
};

/// Walks the lines of a text, which end with "\n", "\r\n" or "\r" as Java's readers have it; the last may
/// have no end.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}

  /// Gives the next line without its end; false when there is none.
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t length = rest_.find_first_of("\r\n");
    line = rest_.substr(0, length);
    ++number_;
    if (length == std::string_view::npos) {
      rest_ = {};
      return true;
    }
    const bool pair = rest_[length] == '\r' && length + 1 < rest_.size() && rest_[length + 1] == '\n';
    rest_.remove_prefix(length + (pair ? 2 : 1));
    return true;
  }

  /// The number of the line given last, from 1; 0 before the first.
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

}  // namespace tk
