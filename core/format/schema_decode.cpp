#include <bit>

#include "core/base/varint.h"
#include "core/format/schema_value.h"

namespace tk {
namespace {

/// One message read from its bytes. The first thing that is wrong stops it; depth is that of the schema.
class Decoder {
 public:
  explicit Decoder(ByteView bytes) : bytes_(bytes), reader_(bytes) {}

  [[nodiscard]] std::size_t position() const { return reader_.position(); }
  [[nodiscard]] std::size_t remaining() const { return reader_.remaining(); }
  [[nodiscard]] const char* problem() const { return problem_; }

  SchemaValue value(const SchemaType& type) {
    switch (type.kind) {
      case SchemaKind::boolean:
        return number<std::int8_t>() != 0;
      case SchemaKind::int8:
        return number<std::int8_t>();
      case SchemaKind::int16:
        return number<std::int16_t>();
      case SchemaKind::uint16:
        return number<std::uint16_t>();
      case SchemaKind::int32:
        return number<std::int32_t>();
      case SchemaKind::uint32:
        return number<std::uint32_t>();
      case SchemaKind::int64:
        return number<std::int64_t>();
      case SchemaKind::float64:
        return std::bit_cast<double>(number<std::uint64_t>());
      case SchemaKind::uuid:
        return uuid();
      case SchemaKind::string:
        return text(type);
      case SchemaKind::bytes:
        return data(type);
      case SchemaKind::array:
        return array(type);
      case SchemaKind::structure:
        return structure(type);
    }
    return {};
  }

  void fail(const char* problem) {
    if (problem_ == nullptr) problem_ = problem;
    reader_.fail();
  }

 private:
  static constexpr std::int64_t kNullLength = -1;

  template <class T>
  T number() {
    const T read = reader_.be<T>();
    if (!reader_.ok()) fail("the message ends within a field");
    return read;
  }

  std::uint32_t uvarint() {
    std::uint32_t read = 0;
    const std::uint8_t* at = bytes_.data() + reader_.position();
    const std::uint8_t* end = reader_.ok() ? get_uvarint(at, bytes_.data() + bytes_.size(), read) : nullptr;
    if (end == nullptr) {
      fail("a variable-length number is cut or too long");
      return 0;
    }
    reader_.take(static_cast<std::size_t>(end - at));
    return read;
  }

  ByteView take(std::size_t count) {
    if (count > reader_.remaining()) fail("a length is greater than what is left");
    return reader_.take(count);
  }

  /// A length or count, kNullLength for a null.
  std::int64_t length(const SchemaType& type) {
    std::int64_t read = kNullLength;
    if (type.compact) {
      read = static_cast<std::int64_t>(uvarint()) - 1;
    } else if (type.kind == SchemaKind::string) {
      read = number<std::int16_t>();
    } else {
      read = number<std::int32_t>();
    }
    if (!reader_.ok()) return kNullLength;
    if (read < kNullLength) fail("a negative length");
    if (read == kNullLength && !type.nullable) fail("a null where none may be");
    return read;
  }

  SchemaValue uuid() {
    Uuid id;
    const ByteView raw = take(id.bytes.size());
    if (raw.size() == id.bytes.size()) std::memcpy(id.bytes.data(), raw.data(), raw.size());
    return id;
  }

  SchemaValue text(const SchemaType& type) {
    const std::int64_t size = length(type);
    if (size < 0) return SchemaValue::Null{};
    return std::string(as_text(take(static_cast<std::size_t>(size))));
  }

  SchemaValue data(const SchemaType& type) {
    const std::int64_t size = length(type);
    if (size < 0) return SchemaValue::Null{};
    return SchemaValue::Bytes{std::string(as_text(take(static_cast<std::size_t>(size))))};
  }

  SchemaValue array(const SchemaType& type) {
    const std::int64_t count = length(type);
    if (count < 0) return SchemaValue::Null{};
    const std::size_t least = std::max<std::size_t>(type.element->least_bytes(), 1);
    if (static_cast<std::uint64_t>(count) > reader_.remaining() / least) {
      fail("more elements than bytes are left for");
      return {};
    }
    SchemaValue::Array elements;
    elements.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count && reader_.ok(); ++i) elements.push_back(value(*type.element));
    return elements;
  }

  SchemaValue structure(const SchemaType& type, std::int8_t null_mark = -1) {
    if (type.nullable) {
      const auto presence = number<std::int8_t>();
      if (presence == null_mark) return SchemaValue::Null{};
      if (reader_.ok() && presence != 1) fail("neither a structure nor a null");
    }
    SchemaStruct read{&type, {}, {}};
    read.fields.resize(type.fields.size());
    for (std::size_t i = 0; i < type.fields.size() && reader_.ok(); ++i) {
      if (type.fields[i].tag < 0) read.fields[i] = value(type.fields[i].type);
    }
    if (type.flexible && reader_.ok()) tagged(type, read);
    return read;
  }

  void tagged(const SchemaType& type, SchemaStruct& into) {
    const std::uint32_t count = uvarint();
    std::int64_t previous = -1;
    for (std::uint32_t i = 0; i < count && reader_.ok(); ++i) {
      const std::uint32_t tag = uvarint();
      const std::uint32_t size = uvarint();
      if (!reader_.ok()) return;
      if (tag <= previous) return fail("tags do not rise");
      previous = tag;
      if (size > reader_.remaining()) return fail("a length is greater than what is left");
      tagged_field(type, into, tag, size);
    }
  }

  void tagged_field(const SchemaType& type, SchemaStruct& into, std::uint32_t tag, std::uint32_t size) {
    for (std::size_t i = 0; i < type.fields.size(); ++i) {
      if (type.fields[i].tag < 0 || static_cast<std::uint32_t>(type.fields[i].tag) != tag) continue;
      const std::size_t start = reader_.position();
      const SchemaType& of = type.fields[i].type;
      // In a tagged field the mark of a null structure is a varint (§0.3).
      into.fields[i] = of.kind == SchemaKind::structure ? structure(of, 0) : value(of);
      if (reader_.ok() && reader_.position() - start != size)
        fail("a tagged field of another size than it says");
      return;
    }
    into.unknown.push_back({tag, std::string(as_text(take(size)))});
  }

  ByteView bytes_;
  ByteReader reader_;
  const char* problem_ = nullptr;
};

}  // namespace

Fault decode_schema_prefix(const SchemaType& type, ByteView bytes, SchemaValue& out, std::size_t& used) {
  Decoder decoder(bytes);
  out = decoder.value(type);
  used = decoder.position();
  if (decoder.problem() == nullptr) return {};
  return {FaultKind::record, decoder.problem(), static_cast<std::int64_t>(used)};
}

Fault decode_schema(const SchemaType& type, ByteView bytes, SchemaValue& out) {
  std::size_t used = 0;
  if (const Fault fault = decode_schema_prefix(type, bytes, out, used)) return fault;
  if (used == bytes.size()) return {};
  return {FaultKind::record, "bytes behind the message", static_cast<std::int64_t>(used)};
}

}  // namespace tk
