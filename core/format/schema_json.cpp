#include "core/format/schema_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "core/base/json_writer.h"
#include "core/base/utf8.h"

namespace tk {
namespace {

/// Tagged fields that their schema declares before others: printed behind this one.
struct EarlyField {
  std::string_view name;
  std::string_view behind;
};
constexpr EarlyField kEarly[] = {{"leader_recovery_state", "leader"},
                                 {"previous_producer_id", "producer_id"},
                                 {"next_producer_id", "producer_id"},
                                 {"next_producer_epoch", "producer_epoch"},
                                 {"delivery_complete_count", "start_offset"}};

/// The place of a field among those of its structure: behind which one that is always there, then its own.
std::pair<std::size_t, std::size_t> place_of(const SchemaType& type, std::size_t i) {
  const SchemaField& field = type.fields[i];
  if (field.tag < 0) return {i, 0};
  for (const EarlyField& early : kEarly) {
    if (field.name != early.name) continue;
    const int behind = type.index_of(early.behind);
    if (behind >= 0 && type.fields[static_cast<std::size_t>(behind)].tag < 0)
      return {static_cast<std::size_t>(behind), i + 1};
  }
  return {i, 0};
}

std::vector<std::size_t> printed_order(const SchemaType& type) {
  std::vector<std::size_t> order(type.fields.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place_of(type, a) < place_of(type, b); });
  return order;
}

void append_string(TextBuffer& to, std::string_view text) {
  if (is_utf8(text)) return append_json_string(to, text);
  std::string repaired;
  for (const char* at = text.data(); at != text.data() + text.size();) {
    const Utf8Step step = utf8_step(at, text.data() + text.size());
    repaired += step.valid ? std::string_view(at, step.length) : std::string_view("\xEF\xBF\xBD");
    at += step.length;
  }
  append_json_string(to, repaired);
}

/// As Java prints a double: the fewest digits that tell it, with a point, and a power of ten outside of 0.001
/// to 10^7.
void append_double(TextBuffer& to, double number) {
  if (!std::isfinite(number)) {
    return append(to, std::isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  }
  std::array<char, 32> digits{};
  const double size = std::fabs(number);
  const bool plain = size == 0 || (size >= 1e-3 && size < 1e7);
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  std::string text(digits.data(), end);
  if (plain) {
    if (text.find('.') == std::string::npos) text += ".0";
    return append(to, text);
  }
  const std::size_t e = text.find('e');
  std::string mantissa = text.substr(0, e);
  if (mantissa.find('.') == std::string::npos) mantissa += ".0";
  append(to, mantissa + "E");
  append_number(to, std::atoi(text.c_str() + e + 1));
}

class Printer {
 public:
  Printer(TextBuffer& to, const SchemaFieldPrinter& printer) : to_(to), printer_(printer) {}

  void print(const SchemaValue& value) {
    std::visit(
        [&](const auto& held) {
          using T = std::decay_t<decltype(held)>;
          if constexpr (std::is_same_v<T, bool>) {
            append(to_, held ? "true" : "false");
          } else if constexpr (std::is_same_v<T, std::int64_t>) {
            append_number(to_, held);
          } else if constexpr (std::is_same_v<T, double>) {
            append_double(to_, held);
          } else if constexpr (std::is_same_v<T, Uuid>) {
            append(to_, "\"" + held.text() + "\"");
          } else if constexpr (std::is_same_v<T, std::string>) {
            append_string(to_, held);
          } else if constexpr (std::is_same_v<T, SchemaValue::Bytes>) {
            append(to_, "\"");
            append_base64(to_, held.data);
            append(to_, "\"");
          } else if constexpr (std::is_same_v<T, SchemaValue::Array>) {
            array(held);
          } else if constexpr (std::is_same_v<T, SchemaStruct>) {
            structure(held);
          } else {
            append(to_, "null");
          }
        },
        value.data());
  }

 private:
  void array(const SchemaValue::Array& elements) {
    append(to_, "[");
    bool first = true;
    for (const SchemaValue& element : elements) {
      if (!first) append(to_, ",");
      first = false;
      print(element);
    }
    append(to_, "]");
  }

  void structure(const SchemaStruct& held) {
    append(to_, "{");
    bool first = true;
    for (const std::size_t i : printed_order(*held.type)) {
      const SchemaField& field = held.type->fields[i];
      const SchemaValue& value = held.fields[i];
      if (value.is_absent()) continue;
      append(to_, first ? "\"" : ",\"");
      first = false;
      append(to_, camel_case(field.name));
      append(to_, "\":");
      if (!printer_ || !printer_(field.name, value, to_)) print(value);
    }
    append(to_, "}");
  }

  TextBuffer& to_;
  const SchemaFieldPrinter& printer_;
};

}  // namespace

std::string camel_case(std::string_view schema_name) {
  std::string name;
  for (std::size_t i = 0; i < schema_name.size(); ++i) {
    const bool word = schema_name[i] == '_' && i + 1 < schema_name.size();
    name += word ? static_cast<char>(schema_name[++i] & ~0x20) : schema_name[i];
  }
  return name;
}

std::string upper_snake_case(std::string_view class_name) {
  std::string name;
  for (const char c : class_name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !name.empty()) name += '_';
    name += c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c;
  }
  return name;
}

void append_schema_json(TextBuffer& to, const SchemaValue& value, const SchemaFieldPrinter& printer) {
  Printer(to, printer).print(value);
}

}  // namespace tk
