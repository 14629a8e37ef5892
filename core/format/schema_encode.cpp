#include <bit>
#include <limits>

#include "core/base/varint.h"
#include "core/format/schema_value.h"

namespace tk {
namespace {

/// Appends one message; the first value that does not fit stops it.
class Encoder {
 public:
  explicit Encoder(Buffer& out) : out_(out) {}

  [[nodiscard]] const char* problem() const { return problem_; }

  void value(const SchemaType& type, const SchemaValue& value) {
    if (problem_ != nullptr) return;
    if (value.is_absent()) return fail("a field without a value");
    if (value.is_null()) return null(type);
    if (!fits(type.kind, value)) return fail("a value of another kind than its field");
    switch (type.kind) {
      case SchemaKind::boolean:
        return number<std::int8_t>(value.boolean() ? 1 : 0);
      case SchemaKind::int8:
        return checked<std::int8_t>(value);
      case SchemaKind::int16:
        return checked<std::int16_t>(value);
      case SchemaKind::uint16:
        return checked<std::uint16_t>(value);
      case SchemaKind::int32:
        return checked<std::int32_t>(value);
      case SchemaKind::uint32:
        return checked<std::uint32_t>(value);
      case SchemaKind::int64:
        return number<std::int64_t>(value.integer());
      case SchemaKind::float64:
        return number(std::bit_cast<std::uint64_t>(value.real()));
      case SchemaKind::uuid:
        return out_.append(ByteView(value.uuid().bytes));
      case SchemaKind::string:
        return counted(type, value.text());
      case SchemaKind::bytes:
        return counted(type, value.bytes());
      case SchemaKind::array:
        length(type, value.array().size());
        for (const SchemaValue& element : value.array()) this->value(*type.element, element);
        return;
      case SchemaKind::structure:
        return structure(type, value.structure());
    }
  }

 private:
  void fail(const char* problem) {
    if (problem_ == nullptr) problem_ = problem;
  }

  static bool fits(SchemaKind kind, const SchemaValue& value) {
    const SchemaValue::Data& data = value.data();
    switch (kind) {
      case SchemaKind::boolean:
        return std::holds_alternative<bool>(data);
      case SchemaKind::float64:
        return std::holds_alternative<double>(data);
      case SchemaKind::uuid:
        return std::holds_alternative<Uuid>(data);
      case SchemaKind::string:
        return std::holds_alternative<std::string>(data);
      case SchemaKind::bytes:
        return std::holds_alternative<SchemaValue::Bytes>(data);
      case SchemaKind::array:
        return std::holds_alternative<SchemaValue::Array>(data);
      case SchemaKind::structure:
        return std::holds_alternative<SchemaStruct>(data);
      default:
        return std::holds_alternative<std::int64_t>(data);
    }
  }

  template <class T>
  void number(T value) {
    store_be(out_.room(sizeof value), value);
    out_.commit(sizeof value);
  }

  template <class T>
  void checked(const SchemaValue& value) {
    const std::int64_t held = value.integer();
    if (held < std::int64_t{std::numeric_limits<T>::min()} ||
        held > std::int64_t{std::numeric_limits<T>::max()}) {
      return fail("a number out of the range of its field");
    }
    number(static_cast<T>(held));
  }

  void uvarint(std::uint64_t value) { out_.commit_to(put_uvarint(out_.room(kMaxVarlongBytes), value)); }

  void length(const SchemaType& type, std::size_t size) {
    const std::size_t most = type.kind == SchemaKind::string ? std::numeric_limits<std::int16_t>::max()
                                                             : std::numeric_limits<std::int32_t>::max();
    if (size > most) return fail("longer than its field can be");
    if (type.compact) return uvarint(size + 1);
    if (type.kind == SchemaKind::string) return number(static_cast<std::int16_t>(size));
    number(static_cast<std::int32_t>(size));
  }

  void counted(const SchemaType& type, const std::string& data) {
    length(type, data.size());
    if (problem_ == nullptr) out_.append(data);
  }

  void null(const SchemaType& type) {
    if (!type.nullable) return fail("a null where none may be");
    if (type.kind == SchemaKind::structure) return number<std::int8_t>(null_mark_);
    if (type.compact) return uvarint(0);
    if (type.kind == SchemaKind::string) return number<std::int16_t>(-1);
    number<std::int32_t>(-1);
  }

  void structure(const SchemaType& type, const SchemaStruct& value) {
    if (value.fields.size() != type.fields.size()) return fail("a structure of another type than its field");
    if (type.nullable) number<std::int8_t>(1);
    null_mark_ = kNullMark;
    for (std::size_t i = 0; i < type.fields.size(); ++i) {
      if (type.fields[i].tag < 0) this->value(type.fields[i].type, value.fields[i]);
    }
    if (type.flexible) return tagged(type, value);
    if (!value.unknown.empty()) fail("tagged fields in a version without them");
  }

  /// The fields of the schema and the unknown ones, merged by rising tag.
  void tagged(const SchemaType& type, const SchemaStruct& value) {
    std::size_t count = value.unknown.size();
    for (std::size_t i = 0; i < type.fields.size(); ++i) {
      if (type.fields[i].tag >= 0 && !value.fields[i].is_absent()) ++count;
    }
    uvarint(count);
    auto unknown = value.unknown.begin();
    for (std::size_t i = 0; i < type.fields.size(); ++i) {
      if (type.fields[i].tag < 0 || value.fields[i].is_absent()) continue;
      const auto tag = static_cast<std::uint32_t>(type.fields[i].tag);
      for (; unknown != value.unknown.end() && unknown->tag < tag; ++unknown) raw_tag(*unknown);
      uvarint(tag);
      Buffer bytes;
      Encoder inner(bytes);
      inner.null_mark_ = 0;
      inner.value(type.fields[i].type, value.fields[i]);
      if (inner.problem() != nullptr) return fail(inner.problem());
      uvarint(bytes.size());
      out_.append(bytes.view());
    }
    for (; unknown != value.unknown.end(); ++unknown) raw_tag(*unknown);
  }

  void raw_tag(const UnknownTag& tag) {
    uvarint(tag.tag);
    uvarint(tag.bytes.size());
    out_.append(tag.bytes);
  }

  static constexpr std::int8_t kNullMark = -1;

  Buffer& out_;
  // Of a null structure; in a tagged field itself a varint (§0.3).
  std::int8_t null_mark_ = kNullMark;
  const char* problem_ = nullptr;
};

}  // namespace

Fault encode_schema(const SchemaType& type, const SchemaValue& value, Buffer& out) {
  const std::size_t before = out.size();
  Encoder encoder(out);
  encoder.value(type, value);
  if (encoder.problem() == nullptr) return {};
  out.cut(before);
  return {FaultKind::record, encoder.problem()};
}

}  // namespace tk
