#include "core/format/meta_properties.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/text.h"

namespace tk {

namespace {

constexpr std::string_view kBlanks = " \t\f";

struct Property {
  std::string key;
  std::string value;
  std::size_t line = 0;
};

void trim_left(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
}

/// A line goes on in the next one if an odd number of backslashes ends it: the last of them is not escaped
/// itself.
bool continues(std::string_view line) {
  std::size_t backslashes = 0;
  while (backslashes < line.size() && line[line.size() - 1 - backslashes] == '\\') ++backslashes;
  return backslashes % 2 == 1;
}

void append_utf8(std::string& to, std::uint32_t code) {
  const auto put = [&to](std::uint32_t byte) { to.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

std::optional<std::uint32_t> hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  std::uint32_t code = 0;
  for (const char c : text.substr(0, 4)) {
    std::uint32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<std::uint32_t>(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = static_cast<std::uint32_t>((c | 0x20) - 'a') + 10;
    } else {
      return std::nullopt;
    }
    code = code * 16 + digit;
  }
  return code;
}

/// Resolves escapes. The file is Latin-1 to Java; here text is UTF-8. Halves of surrogate pairs, which no id
/// has, become U+FFFD. Nothing if a \u is malformed.
std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      append_utf8(out, static_cast<std::uint8_t>(text[i]));
      continue;
    }
    if (++i == text.size()) break;
    if (text[i] != 'u') {
      constexpr std::string_view names = "tnrf";
      constexpr std::string_view meanings = "\t\n\r\f";
      const std::size_t named = names.find(text[i]);
      append_utf8(out,
                  static_cast<std::uint8_t>(named == std::string_view::npos ? text[i] : meanings[named]));
      continue;
    }
    const std::optional<std::uint32_t> code = hex4(text.substr(i + 1));
    if (!code) return std::nullopt;
    append_utf8(out, *code >= 0xD800 && *code < 0xE000 ? 0xFFFD : *code);
    i += 4;
  }
  return out;
}

/// Splits a logical line at the first `=`, `:` or blank that no backslash escapes; blanks around the
/// separator go.
bool split_property(std::string_view line, Property& property) {
  std::size_t end = 0;
  while (end < line.size() && std::string_view("=: \t\f").find(line[end]) == std::string_view::npos) {
    end += line[end] == '\\' ? 2 : 1;
  }
  end = std::min(end, line.size());
  std::string_view value = line.substr(end);
  trim_left(value);
  if (value.starts_with('=') || value.starts_with(':')) {
    value.remove_prefix(1);
    trim_left(value);
  }
  const auto key_text = unescaped(line.substr(0, end));
  const auto value_text = unescaped(value);
  if (!key_text || !value_text) return false;
  property.key = *key_text;
  property.value = *value_text;
  return true;
}

std::optional<TextFault> read_properties(std::string_view text, std::vector<Property>& properties) {
  TextLines lines(text);
  std::string_view line;
  while (lines.next(line)) {
    trim_left(line);
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    Property property;
    property.line = lines.number();
    std::string logical(line);
    while (continues(logical)) {
      logical.pop_back();
      if (!lines.next(line)) break;
      trim_left(line);
      logical += line;
    }
    if (!split_property(logical, property)) return TextFault{property.line, "malformed \\u escape"};
    properties.push_back(std::move(property));
  }
  return std::nullopt;
}

class MetaReader {
 public:
  explicit MetaReader(std::string_view text) { result_.fault = read_properties(text, properties_); }

  MetaProperties read() {
    if (result_.fault) return result_;
    const std::optional<std::int32_t> version = number("version");
    result_.version = version.value_or(0);
    if (result_.version != 0 && result_.version != 1) {
      fail(find("version")->line, "version " + std::to_string(result_.version) + " is not known");
    }
    if (const Property* cluster = find("cluster.id")) result_.cluster_id = cluster->value;
    result_.node_id = number(result_.version == 0 ? "broker.id" : "node.id");
    if (const Property* directory = find("directory.id")) {
      result_.directory_id = Uuid::parse(directory->value);
      if (!result_.directory_id) fail(directory->line, "directory.id is no id");
    }
    if (result_.version == 1 && !result_.node_id) fail(0, "node.id is missing");
    if (result_.version == 1 && !result_.cluster_id) fail(0, "cluster.id is missing");
    if (!result_.fault) return result_;
    MetaProperties failed;
    failed.fault = result_.fault;
    return failed;
  }

 private:
  const Property* find(std::string_view key) const {
    const Property* found = nullptr;
    for (const Property& property : properties_) {
      if (property.key == key) found = &property;
    }
    return found;
  }

  std::optional<std::int32_t> number(std::string_view key) {
    const Property* property = find(key);
    if (property == nullptr) return std::nullopt;
    const std::optional<std::int64_t> value = parse_int(property->value);
    using Limits = std::numeric_limits<std::int32_t>;
    if (!value || *value < Limits::min() || *value > Limits::max()) {
      fail(property->line, std::string(key) + " is no number");
      return std::nullopt;
    }
    return static_cast<std::int32_t>(*value);
  }

  /// The first mistake is the one told.
  void fail(std::size_t line, std::string reason) {
    if (!result_.fault) result_.fault = TextFault{line, std::move(reason)};
  }

  std::vector<Property> properties_;
  MetaProperties result_;
};

}  // namespace

MetaProperties parse_meta_properties(std::string_view text) {
  return MetaReader(text).read();
}

}  // namespace tk
