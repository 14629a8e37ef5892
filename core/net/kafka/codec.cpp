#include "core/net/kafka/codec.h"

#include "core/base/varint.h"

namespace tk::kafka {

std::uint32_t Reader::read_uvarint() {
  std::uint32_t value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    const auto byte = in_.be<std::uint8_t>();
    value |= static_cast<std::uint32_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  in_.fail();
  return 0;
}

std::int64_t Reader::read_count() {
  if (flexible_) return static_cast<std::int64_t>(read_uvarint()) - 1;
  return in_.be<std::int32_t>();
}

std::int64_t Reader::read_length(bool wide) {
  if (flexible_) return static_cast<std::int64_t>(read_uvarint()) - 1;
  return wide ? in_.be<std::int32_t>() : in_.be<std::int16_t>();
}

ByteView Reader::take(std::int64_t size) {
  if (size < 0) in_.fail();
  return in_.take(size < 0 ? 0 : static_cast<std::size_t>(size));
}

namespace {

struct Nothing {
  template <class F>
  void fields(F&) {}
};

}  // namespace

void Reader::skip_tags() {
  Nothing nothing;
  if (flexible_) read_tags(nothing);
}

void Reader::read(std::string& value, bool) {
  value = as_text(take(read_length(false)));
}

void Reader::read(std::optional<std::string>& value, bool nullable) {
  const std::int64_t length = read_length(false);
  if (length < 0 && nullable && in_.ok()) return value.reset();
  value = as_text(take(length));
}

void Reader::read(Uuid& value, bool) {
  const ByteView bytes = in_.take(value.bytes.size());
  if (in_.ok()) std::copy(bytes.begin(), bytes.end(), value.bytes.begin());
}

void Reader::read(Bytes& value, bool) {
  value.data = as_text(take(read_length(true)));
}

void Reader::read(std::optional<Bytes>& value, bool nullable) {
  const std::int64_t length = read_length(true);
  if (length < 0 && nullable && in_.ok()) return value.reset();
  value.emplace().data = as_text(take(length));
}

void Reader::read(Records& value, bool) {
  const std::int64_t length = read_length(true);
  if (length < 0 && in_.ok()) return value.in.reset();
  value.in = take(length);
}

void Writer::write_uvarint(std::uint64_t value) {
  Buffer& out = out_.bytes();
  out.commit_to(put_uvarint(out.room(kMaxVarlongBytes), value));
}

void Writer::write_count(std::int64_t count) {
  if (flexible_) return write_uvarint(static_cast<std::uint64_t>(count + 1));
  write_int(static_cast<std::int32_t>(count));
}

void Writer::write_length(std::int64_t length, bool wide) {
  if (flexible_) return write_uvarint(static_cast<std::uint64_t>(length + 1));
  if (wide) return write_int(static_cast<std::int32_t>(length));
  write_int(static_cast<std::int16_t>(length));
}

void Writer::write(const std::string& value, bool) {
  // What is longer than a length of two bytes can say is cut: only messages for people are, and a client id
  // that came in with such a length is not.
  std::string_view text = value;
  if (!flexible_) text = text.substr(0, INT16_MAX);
  write_length(static_cast<std::int64_t>(text.size()), false);
  out_.bytes().append(text);
}

void Writer::write(const std::optional<std::string>& value, bool nullable) {
  if (value) return write(*value, nullable);
  write_length(nullable ? -1 : 0, false);
}

void Writer::write(const Uuid& value, bool) {
  out_.bytes().append(ByteView(value.bytes));
}

void Writer::write(const Bytes& value, bool) {
  write_length(static_cast<std::int64_t>(value.data.size()), true);
  out_.bytes().append(value.data);
}

void Writer::write(const std::optional<Bytes>& value, bool nullable) {
  if (value) return write(*value, nullable);
  write_length(nullable ? -1 : 0, true);
}

void Writer::write(Records& value, bool) {
  if (value.out.empty() && !value.in) return write_length(-1, true);
  if (value.in) {
    write_length(static_cast<std::int64_t>(value.in->size()), true);
    return out_.bytes().append(*value.in);
  }
  write_length(static_cast<std::int64_t>(value.out_size()), true);
  for (net::Piece& piece : value.out) out_.add(std::move(piece));
}

std::optional<RequestHeader> read_request_header(ByteView frame, bool (*flexible)(std::int16_t, std::int16_t),
                                                 std::size_t& size) {
  ByteReader in(frame);
  RequestHeader header;
  header.api_key = in.be<std::int16_t>();
  header.api_version = in.be<std::int16_t>();
  header.correlation_id = in.be<std::int32_t>();
  const auto length = in.be<std::int16_t>();
  if (length >= 0) header.client_id = as_text(in.take(static_cast<std::size_t>(length)));
  if (!in.ok()) return std::nullopt;
  size = in.position();
  if (!flexible(header.api_key, header.api_version)) return header;
  Reader tags(frame.subspan(size), 0, true);
  tags.skip_tags();
  if (!tags.ok()) return std::nullopt;
  size += tags.position();
  return header;
}

}  // namespace tk::kafka
