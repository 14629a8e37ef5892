#include "commands/table.h"

#include <algorithm>

#include "core/base/text.h"

namespace tk {
namespace {

constexpr std::size_t kGap = 2;

/// Characters, as far as code points are characters.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

void Table::add(const std::vector<std::string>& cells) {
  std::vector<std::string>& row = rows_.emplace_back();
  for (const std::string& cell : cells) row.push_back(printable(cell, std::string::npos));
}

std::string Table::text() const {
  if (rows_.empty()) return {};
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns_) lines[0].emplace_back(column.title);
  lines.insert(lines.end(), rows_.begin(), rows_.end());
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], width(line[i]));
  }
  std::string text;
  for (const auto& line : lines) {
    text.append(indent_, ' ');
    std::size_t owed = 0;  // blanks before the next cell; none at the end of a line
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::size_t filling = widths[i] - width(line[i]);
      text.append(owed + (columns_[i].right ? filling : 0), ' ').append(line[i]);
      owed = kGap + (columns_[i].right ? 0 : filling);
    }
    text += '\n';
  }
  return text;
}

}  // namespace tk
