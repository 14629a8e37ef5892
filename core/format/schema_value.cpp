#include "core/format/schema_value.h"

#include <stdexcept>

namespace tk {

SchemaValue SchemaValue::integers(const std::vector<std::int32_t>& values) {
  return Array(values.begin(), values.end());
}

SchemaValue SchemaValue::of(const SchemaType& type) {
  if (type.nullable) return Null{};
  switch (type.kind) {
    case SchemaKind::boolean:
      return false;
    case SchemaKind::float64:
      return 0.0;
    case SchemaKind::uuid:
      return Uuid{};
    case SchemaKind::string:
      return std::string();
    case SchemaKind::bytes:
      return Bytes{};
    case SchemaKind::array:
      return Array{};
    case SchemaKind::structure: {
      SchemaStruct made{&type, {}, {}};
      made.fields.reserve(type.fields.size());
      for (const SchemaField& field : type.fields) {
        made.fields.push_back(field.tag < 0 ? of(field.type) : SchemaValue());
      }
      return made;
    }
    default:
      return 0;
  }
}

std::vector<std::int32_t> SchemaValue::int32s() const {
  std::vector<std::int32_t> values;
  values.reserve(array().size());
  for (const SchemaValue& value : array()) values.push_back(value.int32());
  return values;
}

const SchemaValue* SchemaValue::find(std::string_view name) const {
  const SchemaStruct& of = structure();
  const int index = of.type->index_of(name);
  return index < 0 ? nullptr : &of.fields[static_cast<std::size_t>(index)];
}

const SchemaValue& SchemaValue::operator[](std::string_view name) const {
  if (const SchemaValue* field = find(name)) return *field;
  throw std::logic_error("no such field in this schema: " + std::string(name));
}

SchemaValue& SchemaValue::operator[](std::string_view name) {
  return const_cast<SchemaValue&>(std::as_const(*this)[name]);
}

bool operator==(const SchemaValue& a, const SchemaValue& b) {
  if (a.data_.index() != b.data_.index()) return false;
  const auto* left = std::get_if<SchemaStruct>(&a.data_);
  if (left != nullptr) {
    const auto& right = std::get<SchemaStruct>(b.data_);
    return left->fields == right.fields && left->unknown == right.unknown;
  }
  return std::visit(
      [&b](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, SchemaStruct>) {
          return true;
        } else {
          return held == std::get<T>(b.data_);
        }
      },
      a.data_);
}

void SchemaValue::wrong_kind() {
  throw std::logic_error("a schema value of another kind");
}

}  // namespace tk
