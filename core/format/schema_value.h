// A message of a schema (schema.h) as a tree of values, and its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/bytes.h"
#include "core/base/uuid.h"
#include "core/format/fault.h"
#include "core/format/schema.h"

namespace tk {

class SchemaValue;

/// A tagged field of a later release, kept so that a copy has it, too.
struct UnknownTag {
  std::uint32_t tag = 0;
  std::string bytes;
  friend bool operator==(const UnknownTag&, const UnknownTag&) = default;
};

/// A structure's fields, one a field of its type and in that order; a tagged field may be absent.
struct SchemaStruct {
  const SchemaType* type = nullptr;
  std::vector<SchemaValue> fields;
  std::vector<UnknownTag> unknown;
};

/// A value of any type. Reading a field that the schema does not have, or a value as what it is not, is a
/// mistake of the program and throws std::logic_error: what was decoded always fits its schema.
class SchemaValue {
 public:
  struct Absent {
    friend bool operator==(Absent, Absent) = default;
  };
  struct Null {
    friend bool operator==(Null, Null) = default;
  };
  struct Bytes {
    std::string data;
    friend bool operator==(const Bytes&, const Bytes&) = default;
  };
  using Array = std::vector<SchemaValue>;

  SchemaValue() = default;
  template <class T>
  SchemaValue(T value) {  // NOLINT: values stand for themselves
    if constexpr (std::is_same_v<T, bool>) {
      data_.emplace<bool>(value);
    } else if constexpr (std::is_integral_v<T>) {
      data_.emplace<std::int64_t>(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {
      data_.emplace<std::string>(std::string_view(value));
    } else {
      data_.emplace<T>(std::move(value));
    }
  }
  /// An array of integers.
  static SchemaValue integers(const std::vector<std::int32_t>& values);
  /// What a new message of this type holds: zeros, empty strings and arrays, nulls where they are allowed,
  /// tagged fields absent.
  static SchemaValue of(const SchemaType& type);

  [[nodiscard]] bool is_absent() const { return std::holds_alternative<Absent>(data_); }
  [[nodiscard]] bool is_null() const { return std::holds_alternative<Null>(data_); }
  /// Neither absent nor null.
  [[nodiscard]] bool has_value() const { return !is_absent() && !is_null(); }

  [[nodiscard]] bool boolean() const { return as<bool>(); }
  [[nodiscard]] std::int64_t integer() const { return as<std::int64_t>(); }
  [[nodiscard]] std::int32_t int32() const { return static_cast<std::int32_t>(integer()); }
  [[nodiscard]] double real() const { return as<double>(); }
  [[nodiscard]] const Uuid& uuid() const { return as<Uuid>(); }
  [[nodiscard]] const std::string& text() const { return as<std::string>(); }
  [[nodiscard]] const std::string& bytes() const { return as<Bytes>().data; }
  [[nodiscard]] const Array& array() const { return as<Array>(); }
  [[nodiscard]] Array& array() { return const_cast<Array&>(as<Array>()); }
  [[nodiscard]] const SchemaStruct& structure() const { return as<SchemaStruct>(); }
  [[nodiscard]] SchemaStruct& structure() { return const_cast<SchemaStruct&>(as<SchemaStruct>()); }
  /// An array of integers.
  [[nodiscard]] std::vector<std::int32_t> int32s() const;

  /// A field of a structure.
  const SchemaValue& operator[](std::string_view name) const;
  SchemaValue& operator[](std::string_view name);
  /// The same, null where this version has no such field.
  [[nodiscard]] const SchemaValue* find(std::string_view name) const;

  friend bool operator==(const SchemaValue& a, const SchemaValue& b);

  using Data =
      std::variant<Absent, Null, bool, std::int64_t, double, Uuid, std::string, Bytes, Array, SchemaStruct>;
  [[nodiscard]] const Data& data() const { return data_; }

 private:
  template <class T>
  const T& as() const {
    if (const T* held = std::get_if<T>(&data_)) return *held;
    wrong_kind();
  }
  [[noreturn]] static void wrong_kind();

  Data data_;
};

/// Reads a message that takes all of `bytes`. Damage is a fault of kind `record`, `found` its position: a
/// length that does not fit, a null where none may be, tags that do not rise, a tagged field of another size
/// than it says, bytes that are left.
Fault decode_schema(const SchemaType& type, ByteView bytes, SchemaValue& out);
/// The same from a reader's place on; what follows the message stays unread.
Fault decode_schema_prefix(const SchemaType& type, ByteView bytes, SchemaValue& out, std::size_t& used);

/// Appends a message's bytes. A value that its type cannot hold (another kind, a number out of range, a
/// string that is too long, a null or an absent field where none may be) is a fault of kind `record`; nothing
/// is appended then.
Fault encode_schema(const SchemaType& type, const SchemaValue& value, Buffer& out);

}  // namespace tk
