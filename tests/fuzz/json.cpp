// The body of a json record. A record that decodes is encoded to one that says the same, once and for all;
// the fast path for tk's own shape and the general reader agree.
#include "core/format/json_record.h"

#include "core/base/crc.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/bytes.h"
#include "tests/support/records.h"

namespace tk::fuzz {
namespace {

using test::Bytes;

struct Decoded {
  test::Record record;
  JsonFields fields;
  bool value_is_json = false;
  Bytes again;
};

bool same(const JsonFields& a, const JsonFields& b) {
  return a.leader_epoch == b.leader_epoch && a.producer_id == b.producer_id &&
         a.producer_epoch == b.producer_epoch && a.sequence == b.sequence &&
         a.transactional == b.transactional && a.control == b.control;
}

Bytes unit_of(std::string_view body) {
  Bytes unit(kUnitPrefix + body.size());
  store_be<std::int64_t>(unit.data(), 7);
  store_be<std::int32_t>(unit.data() + 8, static_cast<std::int32_t>(body.size()));
  std::copy(body.begin(), body.end(), unit.begin() + kUnitPrefix);
  return unit;
}

/// Nothing if it is no good json record.
std::optional<Decoded> decode(ByteView unit) {
  static JsonRecordDecoder decoder;
  const Frame frame = frame_unit(unit, unit.size());
  if (frame.status != FrameStatus::whole || frame.kind != UnitKind::json) return std::nullopt;
  if (check_unit(unit, frame.kind)) return std::nullopt;
  RecordView record;
  if (decoder.decode(unit, record)) return std::nullopt;
  UnitInfo info;
  require(!read_unit_info(unit, frame.kind, info), "what can be decoded has facts");
  require(info.base_offset == record.offset && info.last_offset == record.offset, "one record, one offset");
  require(info.max_timestamp == record.timestamp, "the facts have the record's timestamp");
  require(info.unprotected != decoder.has_crc(), "it is known whether there is a checksum");
  Buffer made;
  encode_json_record(made, record.offset, record, decoder.fields());
  require(made.size() <= json_record_bound(record), "the bound holds");
  return Decoded{test::owned(record), decoder.fields(), record.value_is_json,
                 Bytes(made.data(), made.data() + made.size())};
}

/// The same body without its checksum and with a blank in it, which is not the shape that tk writes.
Bytes in_another_shape(const Bytes& unit) {
  constexpr std::size_t kCrcMember = 18;  // ,"crc":"01234567" without the brace
  std::string body(unit.begin() + kUnitPrefix, unit.end() - static_cast<std::ptrdiff_t>(kCrcMember));
  body += '}';
  return unit_of(body.insert(1, " "));
}

void check(ByteView unit) {
  const std::optional<Decoded> decoded = decode(unit);
  if (!decoded) return;
  const std::optional<Decoded> again = decode(decoded->again);
  // The fast path takes the checksum for a proof of UTF-8; a forged one may stand over other bytes, and JSON
  // values are kept as they stand.
  if (!again && decoded->value_is_json) return;
  require(again.has_value(), "what was encoded can be decoded");
  require(again->record == decoded->record, "the record is the same after encoding it again");
  require(again->value_is_json == decoded->value_is_json, "a JSON value stays one");
  const bool has_producer = decoded->fields.producer_id != kNoProducerId;
  if (has_producer) require(same(again->fields, decoded->fields), "so are the other members");
  require(again->again == decoded->again, "encoding is stable");
  const std::optional<Decoded> general = decode(in_another_shape(decoded->again));
  require(general.has_value(), "the general reader takes what the fast path takes");
  require(general->record == decoded->record && same(general->fields, again->fields), "both read the same");
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  test::Bytes unit = fuzz::unit_of(body);
  fuzz::check(unit);

  // With the checksum put right, if there is one where tk writes it.
  constexpr std::size_t kCrcSuffix = 19;
  if (body.size() > kCrcSuffix && body.substr(size - kCrcSuffix).starts_with(",\"crc\":\"")) {
    static constexpr char kHex[] = "0123456789abcdef";
    const std::uint32_t crc = crc32c(ByteView(unit).first(unit.size() - kCrcSuffix));
    for (int i = 0; i < 8; ++i) {
      unit[unit.size() - 10 + static_cast<std::size_t>(i)] =
          static_cast<std::uint8_t>(kHex[(crc >> (28 - 4 * i)) & 15]);
    }
    fuzz::check(unit);
  }

  JsonReader reader(body);
  const std::string_view value = reader.skip();
  const bool whole = reader.finish();
  fuzz::require(reader.position() <= size, "reading stays within the text");
  if (!whole) return 0;
  JsonReader again(value);
  fuzz::require(again.skip() == value && again.finish(), "a value's text is that value");
  return 0;
}
