#include "core/base/json_writer.h"

#include <algorithm>

#include "core/base/json_escape.h"
#include "core/base/put_text.h"
#include "core/base/utf8.h"

namespace tk {
namespace {

/// Appends `text` escaped, with `before` and `behind` as they are around it.
void append_escaped(TextBuffer& to, std::string_view before, std::string_view text, std::string_view behind) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const std::size_t used = to.size();
  to.resize(used + before.size() + text.size() + text.size() / 8 + behind.size() + kJsonEscapeSlack);
  char* out = std::copy(before.begin(), before.end(), to.data() + used);
  while (at != end) {
    const auto left = static_cast<std::size_t>(end - at);
    const std::size_t needed =
        static_cast<std::size_t>(out - to.data()) + left + behind.size() + kJsonEscapeSlack;
    if (to.size() < needed) {
      const auto written = static_cast<std::size_t>(out - to.data());
      to.resize(needed + text.size() / 2);
      out = to.data() + written;
    }
    const std::size_t step = std::min(left, Chunk16::kSize);
    const Chunk16 chunk = Chunk16::load_some(at, left);
    chunk.store(out);
    // The zeros of a part are controls, too, but none of the text.
    const std::uint32_t mask = chunk.json_escapes() & ((1U << step) - 1);
    out = mask == 0 ? out + step : escape_json_chunk(at, step, end, mask, out);
    at += step;
  }
  out = std::copy(behind.begin(), behind.end(), out);
  to.resize(static_cast<std::size_t>(out - to.data()));
}

/// As a JSON string whatever the bytes are; where they break UTF-8, U+FFFD stands for each piece that broke
/// off.
void append_any_text(TextBuffer& to, std::string_view bytes) {
  if (is_utf8(bytes)) return append_json_string(to, bytes);
  to.push_back('"');
  while (true) {
    const std::size_t good = utf8_prefix(bytes);
    append_escaped(to, {}, bytes.substr(0, good), {});
    bytes.remove_prefix(good);
    if (bytes.empty()) break;
    append(to, "\xEF\xBF\xBD");
    bytes.remove_prefix(utf8_step(bytes.data(), bytes.data() + bytes.size()).length);
  }
  to.push_back('"');
}

}  // namespace

void append_json_string(TextBuffer& to, std::string_view text) {
  append_escaped(to, "\"", text, "\"");
}

void append_json_bytes_member(TextBuffer& to, std::string_view name,
                              const std::optional<std::string_view>& bytes) {
  to.push_back('"');
  append(to, name);
  if (!bytes) return append(to, "\":null");
  if (is_utf8(*bytes)) {
    append(to, "\":");
    return append_json_string(to, *bytes);
  }
  append(to, "_b64\":\"");
  append_base64(to, *bytes);
  to.push_back('"');
}

char* JsonLine::member(std::string_view name, std::size_t room) {
  const std::size_t used = to_.size();
  const std::size_t punctuation =
      first_ ? 3 : 4;  // the quotes, the colon, and a comma before all but the first
  to_.resize(used + punctuation + name.size() + room);
  char* out = to_.data() + used;
  if (!first_) *out++ = ',';
  first_ = false;
  *out++ = '"';
  out = std::copy(name.begin(), name.end(), out);
  *out++ = '"';
  *out++ = ':';
  return out;
}

JsonLine& JsonLine::number(std::string_view name, std::int64_t value) {
  const char* const end = put_number(member(name, kMaxDigits), value);
  to_.resize(static_cast<std::size_t>(end - to_.data()));
  return *this;
}

JsonLine& JsonLine::number_or_null(std::string_view name, const std::optional<std::int64_t>& value) {
  return value ? number(name, *value) : null(name);
}

JsonLine& JsonLine::text(std::string_view name, std::string_view value) {
  member(name, 0);
  append_any_text(to_, value);
  return *this;
}

JsonLine& JsonLine::text_or_null(std::string_view name, const std::optional<std::string_view>& value) {
  return value ? text(name, *value) : null(name);
}

JsonLine& JsonLine::boolean(std::string_view name, bool value) {
  return raw(name, value ? "true" : "false");
}
JsonLine& JsonLine::null(std::string_view name) {
  return raw(name, "null");
}

JsonLine& JsonLine::raw(std::string_view name, std::string_view json) {
  std::copy(json.begin(), json.end(), member(name, json.size()));
  return *this;
}

JsonLine& JsonLine::bytes(std::string_view name, const std::optional<std::string_view>& value) {
  if (!value) return null(name);
  if (is_utf8(*value)) {
    member(name, 0);
    append_json_string(to_, *value);
    return *this;
  }
  if (!first_) to_.push_back(',');
  first_ = false;
  append_json_bytes_member(to_, name, value);
  return *this;
}

void JsonLine::end() {
  append(to_, "}\n");
}

}  // namespace tk
