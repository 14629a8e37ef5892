#include "core/format/schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace tk {
namespace {

struct Primitive {
  std::string_view name;
  SchemaKind kind;
  std::size_t bytes;
};
constexpr std::array<Primitive, 12> kPrimitives = {{
    {"boolean", SchemaKind::boolean, 1},
    {"int8", SchemaKind::int8, 1},
    {"int16", SchemaKind::int16, 2},
    {"uint16", SchemaKind::uint16, 2},
    {"int32", SchemaKind::int32, 4},
    {"uint32", SchemaKind::uint32, 4},
    {"int64", SchemaKind::int64, 8},
    {"float64", SchemaKind::float64, 8},
    {"uuid", SchemaKind::uuid, 16},
    {"string", SchemaKind::string, 2},
    {"bytes", SchemaKind::bytes, 4},
    {"records", SchemaKind::bytes, 4},
}};

/// Reads the table's grammar; the table is part of the program, so what does not parse is a mistake in it.
class TableParser {
 public:
  explicit TableParser(std::string_view text) : text_(text) {}

  /// Fields up to the end of the text or a closing brace.
  SchemaType structure() {
    SchemaType type;
    while (!text_.empty() && text_.front() != '}') {
      if (eat("#{")) {
        type.flexible = true;
        while (!eat("}")) {
          const std::string_view tag = until('=');
          type.fields.push_back(field(number(tag)));
          eat(" ");
        }
      } else {
        type.fields.push_back(field(-1));
      }
      eat(" ");
    }
    return type;
  }

  static std::int32_t number(std::string_view digits) {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) bad();
    return value;
  }

 private:
  SchemaField field(std::int32_t tag) {
    const std::string_view name = until(':');
    SchemaType read = type();
    return {name, std::move(read), tag};
  }

  SchemaType type() {
    const bool nullable = eat("?");
    const bool compact = eat("c");
    SchemaType type;
    if (eat("[")) {
      type.kind = SchemaKind::array;
      type.element = std::make_unique<SchemaType>(this->type());
      if (!eat("]")) bad();
    } else if (eat("{")) {
      type = structure();
      if (!eat("}")) bad();
    } else {
      const auto found = std::find_if(kPrimitives.begin(), kPrimitives.end(),
                                      [&](const Primitive& p) { return text_.starts_with(p.name); });
      if (found == kPrimitives.end()) bad();
      text_.remove_prefix(found->name.size());
      type.kind = found->kind;
    }
    type.nullable = nullable;
    type.compact = compact;
    return type;
  }

  bool eat(std::string_view part) {
    if (!text_.starts_with(part)) return false;
    text_.remove_prefix(part.size());
    return true;
  }

  std::string_view until(char mark) {
    const std::size_t at = text_.find(mark);
    if (at == std::string_view::npos) bad();
    const std::string_view part = text_.substr(0, at);
    text_.remove_prefix(at + 1);
    return part;
  }

  [[noreturn]] static void bad() { throw std::logic_error("the table of schemas does not parse"); }

  std::string_view text_;
};

std::string_view next_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

}  // namespace

int SchemaType::index_of(std::string_view name) const {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

std::size_t SchemaType::least_bytes() const {
  switch (kind) {
    case SchemaKind::structure: {
      if (nullable) return 1;
      std::size_t sum = flexible ? 1 : 0;
      for (const SchemaField& field : fields) sum += field.tag < 0 ? field.type.least_bytes() : 0;
      return sum;
    }
    case SchemaKind::array:
      return compact ? 1 : 4;
    case SchemaKind::string:
    case SchemaKind::bytes:
      if (compact) return 1;
      break;
    default:
      break;
  }
  return std::find_if(kPrimitives.begin(), kPrimitives.end(),
                      [&](const Primitive& p) { return p.kind == kind; })
      ->bytes;
}

SchemaSet::SchemaSet(std::string_view table) {
  while (!table.empty()) {
    std::string_view line = table.substr(0, std::min(table.find('\n'), table.size()));
    table.remove_prefix(std::min(line.size() + 1, table.size()));
    if (line.empty()) continue;
    if (line.front() == '@') {
      line.remove_prefix(1);
      auto entry = std::make_unique<Entry>();
      entry->record.family = next_word(line);
      entry->record.name = next_word(line);
      entry->record.type_id = static_cast<std::int16_t>(TableParser::number(next_word(line)));
      entry->record.lowest = static_cast<std::int16_t>(TableParser::number(next_word(line)));
      entry->record.highest = static_cast<std::int16_t>(TableParser::number(next_word(line)));
      by_name_[entry->record.name] = entry.get();
      entries_.push_back(std::move(entry));
    } else {
      const int version = TableParser::number(next_word(line));
      entries_.back()->lines[version] = line;
    }
  }
}

SchemaSet::Entry* SchemaSet::entry(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const SchemaType* SchemaSet::find(std::string_view name, int version) const {
  Entry* of = entry(name);
  if (of == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  auto line = of->lines.find(version);
  while (line != of->lines.end() && line->second.starts_with("as ")) {
    line = of->lines.find(TableParser::number(line->second.substr(3)));
  }
  if (line == of->lines.end()) return nullptr;
  std::unique_ptr<SchemaType>& parsed = of->parsed[line->first];
  if (!parsed) parsed = std::make_unique<SchemaType>(TableParser(line->second).structure());
  return parsed.get();
}

const SchemaRecord* SchemaSet::record(std::string_view name) const {
  const Entry* of = entry(name);
  return of == nullptr ? nullptr : &of->record;
}

const SchemaRecord* SchemaSet::record(std::string_view family, int type_id, std::string_view suffix) const {
  for (const auto& entry : entries_) {
    const SchemaRecord& record = entry->record;
    if (record.family == family && record.type_id == type_id && record.name.ends_with(suffix)) return &record;
  }
  return nullptr;
}

std::vector<const SchemaRecord*> SchemaSet::records() const {
  std::vector<const SchemaRecord*> all;
  for (const auto& entry : entries_) all.push_back(&entry->record);
  return all;
}

const SchemaSet& internal_schemas() {
  static const SchemaSet set(internal_record_table());
  return set;
}

}  // namespace tk
