// Kafka's wire encoding (serve.md §2.1): reading and writing messages by the fields they list.
//
// A message has a member template fields(F&) that calls f(member, versions) for each field in wire order, and
// f.tag(number, member, default, versions) for tagged ones (KIP-482). Reader, Writer and what tests compare
// with Kafka's own definitions are such F. Bytes that come in are hostile: every length is checked against
// what remains of the frame, and decoded elements against a limit, before anything is allocated.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/buffer.h"
#include "core/base/bytes.h"
#include "core/base/uuid.h"
#include "core/net/send.h"

namespace tk::kafka {

/// An API's key, the versions that are described, and the first flexible one (KIP-482).
struct MessageType {
  std::int16_t key = 0;
  std::int16_t first = 0;
  std::int16_t last = 0;
  std::int16_t flexible_from = INT16_MAX;

  [[nodiscard]] constexpr bool has(std::int16_t version) const { return version >= first && version <= last; }
  [[nodiscard]] constexpr bool flexible(std::int16_t version) const { return version >= flexible_from; }
};

/// The versions that have a field.
struct Versions {
  std::int16_t from = 0;
  std::int16_t to = INT16_MAX;

  [[nodiscard]] constexpr bool has(std::int16_t version) const { return version >= from && version <= to; }
};

/// The first version in which an optional field may be null; before, an absent one is written empty.
struct NullableFrom {
  std::int16_t version = 0;
};
constexpr NullableFrom nullable_from(std::int16_t version) {
  return {version};
}

/// Bytes with a 4-byte length, against the 2 of strings.
struct Bytes {
  std::string data;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

/// A field of records: in a request a part of its frame, in an answer bytes or ranges of files.
struct Records {
  /// Nothing: null.
  std::optional<ByteView> in;
  /// What an answer sends, in order.
  std::vector<net::Piece> out;

  [[nodiscard]] std::size_t out_size() const {
    std::size_t size = 0;
    for (const net::Piece& piece : out) size += piece.size();
    return size;
  }
  friend bool operator==(const Records& a, const Records& b) {
    return a.in.has_value() == b.in.has_value() && (!a.in || as_text(*a.in) == as_text(*b.in));
  }
};

namespace detail {
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
}  // namespace detail
template <class T>
concept Array = detail::IsVector<T>::value;
template <class T>
concept Nullable = detail::IsOptional<T>::value;
template <class T>
concept Struct = requires(const T& t) {
  t == t;
}
&&std::is_class_v<T> && !Array<T> && !Nullable<T> && !std::same_as<T, std::string> &&
    !std::same_as<T, Uuid> && !std::same_as<T, Bytes> && !std::same_as<T, Records>;

/// What the elements of one request may take in memory: some ten times the largest that a client sends, and
/// no frame of tiny elements gets the process to allocate many times its own size.
inline constexpr std::size_t kMostDecoded = 48U << 20;

/// Reads fields in one version. After the first that does not fit ok() is false and all further are empty.
class Reader {
 public:
  Reader(ByteView bytes, std::int16_t version, bool flexible)
      : in_(bytes), version_(version), flexible_(flexible) {}

  [[nodiscard]] bool ok() const { return in_.ok(); }
  [[nodiscard]] std::size_t remaining() const { return in_.remaining(); }
  [[nodiscard]] std::size_t position() const { return in_.position(); }

  template <class T>
  void operator()(T& field, Versions versions = {}, NullableFrom nullable = {}) {
    if (versions.has(version_)) read(field, version_ >= nullable.version);
  }
  template <class T>
  void tag(std::uint32_t number, T& field, const T& standard, Versions versions = {}) {
    field = standard;
    if (versions.has(version_) && tags_ != nullptr && tags_->number == number) {
      read(field, true);
      tags_->taken = true;
    }
  }

  /// A message or a struct: its fields, then its tagged ones.
  template <class T>
  void read_struct(T& value) {
    value.fields(*this);
    if (flexible_) read_tags(value);
  }
  /// Skips the tagged fields of a header.
  void skip_tags();

 private:
  struct Tag {
    std::uint32_t number = 0;
    bool taken = false;
  };
  // While tags are read only they are; the rest of the struct is there already.
  struct TagReader {
    Reader& reader;
    Tag& wanted;
    template <class T>
    void operator()(T&, Versions = {}, NullableFrom = {}) {}
    template <class T>
    void tag(std::uint32_t number, T& field, const T&, Versions versions = {}) {
      if (number != wanted.number || !versions.has(reader.version_)) return;
      reader.read(field, true);
      wanted.taken = true;
    }
  };

  template <std::integral T>
  void read(T& value, bool) {
    if constexpr (std::same_as<T, bool>) {
      value = in_.be<std::int8_t>() != 0;
    } else {
      value = in_.be<T>();
    }
  }
  void read(std::string& value, bool);
  void read(std::optional<std::string>& value, bool nullable);
  void read(Uuid& value, bool);
  void read(Bytes& value, bool);
  void read(std::optional<Bytes>& value, bool nullable);
  void read(Records& value, bool);
  template <Array T>
  void read(T& list, bool) {
    const std::int64_t count = read_count();
    if (count < 0) return in_.fail();
    read_elements(list, count);
  }
  template <class T>
  void read(std::optional<std::vector<T>>& list, bool nullable) {
    const std::int64_t count = read_count();
    if (!in_.ok() || (count < 0 && !nullable)) return in_.fail();
    if (count < 0) return list.reset();
    read_elements(list.emplace(), count);
  }
  template <Struct T>
  void read(T& value, bool) {
    read_struct(value);
  }
  template <Struct T>
  void read(std::optional<T>& value, bool) {
    const auto there = in_.be<std::int8_t>();
    if (there < 0 || !in_.ok()) return value.reset();
    read_struct(value.emplace());
  }

  template <class T>
  void read_elements(std::vector<T>& list, std::int64_t count) {
    list.clear();
    // No element takes less than a byte.
    if (count > static_cast<std::int64_t>(in_.remaining())) return in_.fail();
    decoded_ += static_cast<std::size_t>(count) * sizeof(T);
    if (decoded_ > kMostDecoded) return in_.fail();
    list.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count && in_.ok(); ++i) read(list.emplace_back(), false);
  }
  template <class T>
  void read_tags(T& value) {
    const std::uint32_t count = read_uvarint();
    std::int64_t before = -1;
    for (std::uint32_t i = 0; i < count && in_.ok(); ++i) {
      Tag wanted{read_uvarint(), false};
      const std::uint32_t size = read_uvarint();
      if (wanted.number <= before || size > in_.remaining()) return in_.fail();
      before = wanted.number;
      const std::size_t begin = in_.position();
      TagReader tags{*this, wanted};
      value.fields(tags);
      if (!wanted.taken) {
        in_.take(size);
      } else if (in_.position() - begin != size) {
        return in_.fail();
      }
    }
  }

  /// -1: null.
  std::int64_t read_count();
  std::int64_t read_length(bool wide);
  ByteView take(std::int64_t size);
  std::uint32_t read_uvarint();

  ByteReader in_;
  std::int16_t version_;
  bool flexible_;
  std::size_t decoded_ = 0;
  Tag* tags_ = nullptr;
};

/// Writes fields in one version at the end of a chain of bytes and file ranges.
class Writer {
 public:
  Writer(net::Chain& out, std::int16_t version, bool flexible)
      : out_(out), version_(version), flexible_(flexible) {}

  template <class T>
  void operator()(T& field, Versions versions = {}, NullableFrom nullable = {}) {
    if (versions.has(version_)) write(field, version_ >= nullable.version);
  }
  template <class T>
  void tag(std::uint32_t, T&, const T&, Versions = {}) {}

  template <class T>
  void write_struct(T& value) {
    value.fields(*this);
    if (flexible_) write_tags(value);
  }
  void write_uvarint(std::uint64_t value);
  template <class T>
  void write_int(T value) {
    store_be<T>(out_.bytes().room(sizeof value), value);
    out_.bytes().commit(sizeof value);
  }

 private:
  // Counts the tagged fields that differ from their default, then writes them.
  struct TagCounter {
    std::int16_t version;
    std::uint32_t count = 0;
    template <class T>
    void operator()(T&, Versions = {}, NullableFrom = {}) {}
    template <class T>
    void tag(std::uint32_t, T& field, const T& standard, Versions versions = {}) {
      if (versions.has(version) && !(field == standard)) ++count;
    }
  };
  struct TagWriter {
    Writer& writer;
    template <class T>
    void operator()(T&, Versions = {}, NullableFrom = {}) {}
    template <class T>
    void tag(std::uint32_t number, T& field, const T& standard, Versions versions = {}) {
      if (!versions.has(writer.version_) || field == standard) return;
      net::Chain inner;
      Writer part(inner, writer.version_, writer.flexible_);
      part.write(field, true);
      writer.write_uvarint(number);
      writer.write_uvarint(inner.bytes().size());
      writer.out_.bytes().append(inner.bytes().view());
    }
  };

  template <std::integral T>
  void write(T value, bool) {
    if constexpr (std::same_as<T, bool>) {
      write_int<std::int8_t>(value ? 1 : 0);
    } else {
      write_int<T>(value);
    }
  }
  void write(const std::string& value, bool);
  void write(const std::optional<std::string>& value, bool nullable);
  void write(const Uuid& value, bool);
  void write(const Bytes& value, bool);
  void write(const std::optional<Bytes>& value, bool nullable);
  void write(Records& value, bool);
  template <Array T>
  void write(T& list, bool) {
    write_count(static_cast<std::int64_t>(list.size()));
    for (auto& element : list) write(element, false);
  }
  template <class T>
  void write(std::optional<std::vector<T>>& list, bool nullable) {
    if (list) return write(*list, nullable);
    write_count(nullable ? -1 : 0);
  }
  template <Struct T>
  void write(T& value, bool) {
    write_struct(value);
  }
  template <Struct T>
  void write(std::optional<T>& value, bool) {
    write_int<std::int8_t>(value ? 1 : -1);
    if (value) write_struct(*value);
  }
  template <class T>
  void write_tags(T& value) {
    TagCounter counter{version_};
    value.fields(counter);
    write_uvarint(counter.count);
    if (counter.count == 0) return;
    TagWriter tags{*this};
    value.fields(tags);
  }
  void write_count(std::int64_t count);
  void write_length(std::int64_t length, bool wide);

  net::Chain& out_;
  std::int16_t version_;
  bool flexible_;
};

/// What every request begins with (KIP-482's header v1 and v2).
struct RequestHeader {
  std::int16_t api_key = 0;
  std::int16_t api_version = 0;
  std::int32_t correlation_id = 0;
  std::optional<std::string> client_id;
};

/// The first 8 bytes and the client id; `flexible` says whether tagged fields follow. Nothing: malformed.
std::optional<RequestHeader> read_request_header(ByteView frame,
                                                 bool (*flexible)(std::int16_t key, std::int16_t version),
                                                 std::size_t& size);

/// Reads a request's body; nothing if it is malformed. Bytes behind a whole body are tolerated, as a broker
/// does (serve.md §8).
template <class Message>
std::optional<Message> read_message(ByteView body, std::int16_t version) {
  Reader reader(body, version, Message::kType.flexible(version));
  Message message;
  reader.read_struct(message);
  if (!reader.ok()) return std::nullopt;
  return message;
}

/// Appends a message's body.
template <class Message>
void write_message(net::Chain& out, Message& message, std::int16_t version) {
  Writer writer(out, version, Message::kType.flexible(version));
  writer.write_struct(message);
}

}  // namespace tk::kafka
