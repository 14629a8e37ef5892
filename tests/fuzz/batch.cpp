// A record batch, magic 2: as it is, and with its length, magic and checksum put right, so that what lies
// behind them is reached. What decodes without a remark and uncompressed is encoded again to the same bytes;
// everything else that decodes, to the same records.
#include "core/format/batch.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/format/control_record.h"
#include "core/format/record_decoder.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/bytes.h"
#include "tests/support/records.h"

namespace tk::fuzz {
namespace {

using test::Bytes;
using test::Record;

struct Decoded {
  UnitInfo info;
  std::vector<Record> records;
  /// The batch as the builder made it of these records; empty if their offsets do not rise.
  Bytes again;
  bool odd = false;
};

void read_control(const RecordView& record) {
  ControlKey key;
  std::int32_t epoch = 0;
  TextBuffer text;
  if (parse_control_key(record.key, key)) return;
  if (key.ends_transaction()) (void)parse_end_marker(record.value, epoch);
  const bool fault = static_cast<bool>(append_control_text(text, record));
  require(!fault || text.empty(), "nothing is printed of a control record that is damaged");
}

BatchFields fields_of(ByteView unit, const UnitInfo& info) {
  return {.base_offset = info.base_offset,
          .last_offset_delta = load_be<std::int32_t>(unit.data() + batch_layout::kLastOffsetDelta),
          .leader_epoch = info.leader_epoch,
          .attribute_bits = static_cast<std::uint16_t>(info.attributes & ~7U),
          .producer_id = info.producer_id,
          .producer_epoch = info.producer_epoch,
          .base_sequence = info.base_sequence,
          .base_timestamp = info.base_timestamp,
          .max_timestamp = info.max_timestamp};
}

/// Nothing if the batch is not whole and good.
std::optional<Decoded> decode(ByteView unit) {
  static RecordDecoder decoder;
  static Compressor compressor;
  const Frame frame = frame_unit(unit, unit.size());
  if (frame.status != FrameStatus::whole || frame.kind != UnitKind::batch) return std::nullopt;
  require(frame.size <= unit.size(), "a whole unit lies within the window");
  unit = unit.first(frame.size);
  Decoded out;
  if (check_unit(unit, frame.kind) || read_unit_info(unit, frame.kind, out.info)) return std::nullopt;
  require(out.info.size == unit.size(), "the header's size is the unit's");

  // The general way to add a record, and the short one wherever a record is plain enough for it.
  BatchBuilder builder, short_builder;
  Buffer made, made_short;
  builder.start(out.info.base_timestamp);
  short_builder.start(out.info.base_timestamp);
  bool rises = true;
  std::int64_t last = -1;
  const Fault fault = decoder.decode(unit, out.info, [&](const RecordView& record) {
    if (out.info.control) read_control(record);
    out.records.push_back(test::owned(record));
    const std::int64_t delta = record.offset - out.info.base_offset;
    rises = rises && delta > last && delta <= INT32_MAX;
    const bool is_next = delta == last + 1;
    last = delta;
    if (!rises) return;
    const std::int64_t time = record.encoded_timestamp;
    builder.add_at(made, static_cast<std::int32_t>(delta), time, record.key, record.value, record.headers);
    if (is_next && record.headers.empty()) {
      const auto at = [](const auto& bytes) { return bytes ? bytes->data() : nullptr; };
      const auto size = [](const auto& bytes) {
        return bytes ? static_cast<std::int32_t>(bytes->size()) : -1;
      };
      short_builder.add(made_short, time, at(record.key), size(record.key), at(record.value),
                        size(record.value));
    } else {
      short_builder.add_at(made_short, static_cast<std::int32_t>(delta), time, record.key, record.value,
                           record.headers);
    }
  });
  if (fault) return std::nullopt;
  require(out.records.size() == static_cast<std::size_t>(out.info.count),
          "a good batch gives as many records as its header counts");
  out.odd = decoder.oddity() != nullptr;
  if (!rises) return out;
  const BatchFields fields = fields_of(unit, out.info);
  const Compression codec{static_cast<Codec>(out.info.codec_bits()), {}};
  builder.finish(fields, codec, compressor, made);
  short_builder.finish(fields, codec, compressor, made_short);
  require(
      std::equal(made.view().begin(), made.view().end(), made_short.view().begin(), made_short.view().end()),
      "both ways to add a record give the same batch");
  out.again.assign(made.data(), made.data() + made.size());
  return out;
}

void check(ByteView unit) {
  const std::optional<Decoded> decoded = decode(unit);
  if (!decoded || decoded->again.empty()) return;
  const std::optional<Decoded> again = decode(decoded->again);
  require(again.has_value(), "what was encoded can be decoded");
  require(again->records == decoded->records, "records are the same after encoding them again");
  require(again->again == decoded->again, "encoding is stable");
  if (decoded->odd || decoded->info.compressed()) return;
  require(
      decoded->again == Bytes(unit.begin(), unit.begin() + static_cast<std::ptrdiff_t>(decoded->info.size)),
      "a batch without oddities has one encoding");
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk;
  fuzz::check({data, size});
  if (size < kBatchHeader) return 0;
  std::vector<std::uint8_t> unit(data, data + size);
  store_be<std::int32_t>(unit.data() + batch_layout::kLength, static_cast<std::int32_t>(size - kUnitPrefix));
  unit[batch_layout::kMagic] = 2;
  store_be<std::uint32_t>(unit.data() + batch_layout::kCrc, batch_crc(unit));
  fuzz::check(unit);
  return 0;
}
