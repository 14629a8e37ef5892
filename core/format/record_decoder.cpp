#include "core/format/record_decoder.h"

namespace tk {

namespace {

Fault bad_record(const char* detail, std::int64_t found = 0, std::int64_t expected = 0) {
  return {FaultKind::record, detail, found, expected};
}

/// True if the number in [at, next) takes more bytes than it needs, or has bits that do not fit and are
/// dropped: with `max` bytes the last one may be `last_limit` at most.
bool overlong(const std::uint8_t* at, const std::uint8_t* next, std::size_t max, std::uint8_t last_limit) {
  const auto size = static_cast<std::size_t>(next - at);
  return size > 1 && (next[-1] == 0 || (size == max && next[-1] > last_limit));
}
constexpr char kOverlong[] = "varint longer than its number needs";

/// A record takes at least a length, attributes, two deltas, two lengths and a header count.
constexpr std::int64_t kMinRecordBytes = 7;

}  // namespace

const std::uint8_t* RecordDecoder::refuse(const char* detail) {
  fault_ = bad_record(detail);
  return nullptr;
}

const std::uint8_t* RecordDecoder::read_varint(const std::uint8_t* at, const std::uint8_t* end,
                                               std::int32_t& out) {
  const std::uint8_t* const next = get_varint(at, end, out);
  if (next != nullptr && overlong(at, next, kMaxVarintBytes, 0x0f)) oddity_ = kOverlong;
  return next;
}

const std::uint8_t* RecordDecoder::read_bytes(const std::uint8_t* at, const std::uint8_t* end,
                                              std::optional<std::string_view>& out) {
  std::int32_t length = 0;
  at = read_varint(at, end, length);
  if (at == nullptr) return nullptr;
  if (length < 0) {
    if (length < -1) oddity_ = "length below -1 taken as null";
    out.reset();
    return at;
  }
  if (length > end - at) return nullptr;
  out.emplace(reinterpret_cast<const char*>(at), static_cast<std::size_t>(length));
  return at + length;
}

Fault RecordDecoder::open_records(ByteView batch, const UnitInfo& info, ByteView& records) {
  if (info.count < 0) return bad_record("negative record count", info.count);
  if (info.codec_bits() > static_cast<std::uint8_t>(Codec::zstd)) {
    return bad_record("unknown compression codec", info.codec_bits());
  }
  payload_error_ = nullptr;
  const ByteView stored = batch.subspan(kBatchHeader);
  if (info.compressed() && info.count == 0 && stored.empty()) {
    records = {};
  } else if (info.compressed()) {
    const Decompressed out = decompressor_.decompress(static_cast<Codec>(info.codec_bits()), stored);
    if (out.error != nullptr && out.bytes.empty()) return bad_record(out.error);
    payload_error_ = out.error;
    records = out.bytes;
  } else {
    records = stored;
  }
  if (info.count > static_cast<std::int64_t>(records.size()) / kMinRecordBytes) {
    return bad_record("record count larger than the bytes can hold", info.count,
                      static_cast<std::int64_t>(records.size()) / kMinRecordBytes);
  }
  if ((info.attributes & 0xff80) != 0) oddity_ = "unknown attribute bits are set";
  if (info.last_offset < info.base_offset) oddity_ = "last offset delta is negative";
  if (info.base_offset.value() < 0) oddity_ = "base offset is negative";
  return {};
}

Fault RecordDecoder::close_records(const UnitInfo& info, const std::uint8_t* at, const std::uint8_t* end) {
  if (payload_error_ != nullptr) return bad_record(payload_error_);
  if (at == end) return {};
  if (info.count == 0 && !info.compressed()) {
    oddity_ = "bytes in a batch without records";
    return {};
  }
  return bad_record("bytes left over behind the last record", end - at);
}

namespace {

/// A length and its bytes, before `record_end`; false if they are not so.
[[gnu::always_inline]] inline bool read_plain_text(const std::uint8_t*& at, const std::uint8_t* record_end,
                                                   const char*& text, std::uint32_t& size) {
  std::uint32_t length = 0;
  if (!get_short_uvarint(at, length)) return false;
  size = length / 2;
  // A length of 1 is -1 in zigzag: null. Other odd numbers are negative lengths, and not for here.
  if ((length & 1) != 0) {
    text = nullptr;
    return length == 1;
  }
  if (record_end - at < static_cast<std::ptrdiff_t>(size)) return false;
  text = reinterpret_cast<const char*>(at);
  at += size;
  return true;
}

}  // namespace

std::size_t RecordDecoder::read_plain_block(const std::uint8_t*& begin, const std::uint8_t* const end,
                                            std::span<PlainRecord> block) {
  // Up to the key's length there are four numbers and the attributes.
  constexpr auto head = static_cast<std::ptrdiff_t>(4 * kMaxShortVarint + 1);
  PlainRecord* to = block.data();
  for (; to != block.data() + block.size(); ++to) {
    const std::uint8_t* at = begin;
    std::uint32_t length = 0;
    if (end - at < head || !get_short_uvarint(at, length)) break;
    if ((length & 1) != 0 || end - at < static_cast<std::ptrdiff_t>(length / 2) || *at != 0) break;
    const std::uint8_t* const record_end = at + length / 2;
    ++at;
    if (!get_short_uvarint(at, to->timestamp_delta) || !get_short_uvarint(at, to->offset_delta)) break;
    if (!read_plain_text(at, record_end, to->key, to->key_size)) break;
    if (end - at < static_cast<std::ptrdiff_t>(kMaxShortVarint)) break;
    if (!read_plain_text(at, record_end, to->value, to->value_size)) break;
    if (record_end - at != 1 || *at != 0) break;
    begin = record_end;
  }
  return static_cast<std::size_t>(to - block.data());
}

const std::uint8_t* RecordDecoder::read_record(const std::uint8_t* at, const std::uint8_t* end,
                                               const UnitInfo& info, RecordView& record) {
  std::int32_t length = 0;
  at = read_varint(at, end, length);
  if (at == nullptr || length < 0 || length > end - at) return refuse("record length beyond its batch");
  const std::uint8_t* const record_end = at + length;
  if (at == record_end) return refuse("record without a body");
  if (*at++ != 0) oddity_ = "record attributes are set";
  std::int64_t timestamp_delta = 0;
  std::int32_t offset_delta = 0, header_count = 0;
  const std::uint8_t* const timestamp_at = at;
  at = get_varlong(at, record_end, timestamp_delta);
  if (at == nullptr) return refuse("timestamp delta cut or too long");
  if (overlong(timestamp_at, at, kMaxVarlongBytes, 0x01)) oddity_ = kOverlong;
  at = read_varint(at, record_end, offset_delta);
  if (at == nullptr) return refuse("offset delta cut or too long");
  at = read_bytes(at, record_end, record.key);
  if (at == nullptr) return refuse("key length beyond its record");
  at = read_bytes(at, record_end, record.value);
  if (at == nullptr) return refuse("value length beyond its record");
  at = read_varint(at, record_end, header_count);
  if (at == nullptr) return refuse("header count cut");
  if (header_count != 0) {
    at = read_headers(at, record_end, header_count);
    if (at == nullptr) return nullptr;
    record.headers = headers_;
  } else {
    record.headers = {};
  }
  if (at != record_end) return refuse("record length does not match its fields");

  place_record(info, timestamp_delta, offset_delta, record);
  return at;
}

const std::uint8_t* RecordDecoder::read_headers(const std::uint8_t* at, const std::uint8_t* end,
                                                std::int32_t count) {
  if (count < 0) return refuse("negative header count");
  if (count > end - at) return refuse("header count beyond its record");
  headers_.clear();
  std::optional<std::string_view> name;
  HeaderView header;
  for (std::int32_t i = 0; i < count; ++i) {
    at = read_bytes(at, end, name);
    if (at == nullptr) return refuse("header name beyond its record");
    if (!name) return refuse("header without a name");
    header.name = *name;
    at = read_bytes(at, end, header.value);
    if (at == nullptr) return refuse("header value beyond its record");
    headers_.push_back(header);
  }
  return at;
}

}  // namespace tk
