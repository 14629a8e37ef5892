// Text in columns, for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tk {

/// Rows of cells that are aligned when all are known. What is not printable in a cell is shown as \xNN.
class Table {
 public:
  struct Column {
    std::string_view title;
    /// Numbers stand at the right of their column.
    bool right = false;
  };

  /// `indent` blanks stand before each row.
  explicit Table(std::vector<Column> columns, std::size_t indent = 0)
      : columns_(std::move(columns)), indent_(indent) {}

  /// One cell a column.
  void add(const std::vector<std::string>& cells);
  /// The titles and the rows, each with a line feed; nothing without rows.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::size_t indent_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tk
