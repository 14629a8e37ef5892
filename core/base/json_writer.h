// JSON text written straight into a buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/text.h"

namespace tk {

/// Appends `text` with quotes, escaping what JSON demands (`"`, `\`, control characters); the caller knows
/// that it is UTF-8. Vectorised: 16 bytes at a time where nothing needs escaping.
void append_json_string(TextBuffer& to, std::string_view text);

/// Appends `"name":"..."`, or `"name":null`, or `"name_b64":"..."` when the bytes are not UTF-8 (cli.md §1).
void append_json_bytes_member(TextBuffer& to, std::string_view name,
                              const std::optional<std::string_view>& bytes);

/// One NDJSON object, member by member in the order of the calls: {"a":1,"b":"x"} and a line feed at the end.
class JsonLine {
 public:
  explicit JsonLine(TextBuffer& to) : to_(to) { to_.push_back('{'); }
  JsonLine& number(std::string_view name, std::int64_t value);
  JsonLine& number_or_null(std::string_view name, const std::optional<std::int64_t>& value);
  /// Text of our own or of a file name; bytes that are not UTF-8 appear as U+FFFD.
  JsonLine& text(std::string_view name, std::string_view value);
  JsonLine& text_or_null(std::string_view name, const std::optional<std::string_view>& value);
  JsonLine& boolean(std::string_view name, bool value);
  JsonLine& null(std::string_view name);
  /// A value that is JSON already.
  JsonLine& raw(std::string_view name, std::string_view json);
  /// A key or value: text, null, or name_b64.
  JsonLine& bytes(std::string_view name, const std::optional<std::string_view>& value);
  void end();

 private:
  /// Appends the comma, the name and the colon, and makes `room` for the value; returns where the value
  /// begins.
  char* member(std::string_view name, std::size_t room);
  TextBuffer& to_;
  bool first_ = true;
};

}  // namespace tk
