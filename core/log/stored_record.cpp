#include "core/log/stored_record.h"

#include "core/format/record_decoder.h"
#include "core/log/view_walk.h"

namespace tk {
namespace {

std::optional<std::string> owned(const std::optional<std::string_view>& text) {
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

std::optional<StoredRecord> record_of_unit(RecordDecoder& decoder, ByteView unit, const UnitInfo& info,
                                           Offset offset) {
  std::optional<StoredRecord> found;
  if (info.count == 0 || info.control) return found;
  const Fault fault = decoder.decode(unit, info, [&](const RecordView& record) {
    if (record.offset != offset) return;
    StoredRecord& stored = found.emplace();
    stored.offset = record.offset;
    stored.key = owned(record.key);
    stored.value = owned(record.value);
    stored.value_is_json = record.value_is_json;
    for (const HeaderView& header : record.headers)
      stored.headers.emplace_back(header.name, owned(header.value));
  });
  if (fault) found.reset();
  return found;
}

}  // namespace

std::optional<StoredRecord> record_at(FileSystem& fs, const LogView& view, Offset offset) {
  std::optional<StoredRecord> found;
  RecordDecoder decoder;
  walk_view(fs, view, offset, [&](ByteView unit, const UnitInfo& info, const SegmentFile&) {
    if (info.last_offset < offset) return true;
    if (info.base_offset <= offset) found = record_of_unit(decoder, unit, info, offset);
    return false;
  });
  return found;
}

std::optional<StoredRecord> record_of_sequence(FileSystem& fs, const LogView& view, ProducerId producer,
                                               std::int16_t epoch, std::int32_t sequence) {
  std::optional<StoredRecord> found;
  RecordDecoder decoder;
  walk_view(fs, view, first_base(view), [&](ByteView unit, const UnitInfo& info, const SegmentFile&) {
    if (info.producer_id != producer || info.producer_epoch != epoch || info.control) return true;
    // A batch in which sequences wrap is passed over.
    if (sequence < info.base_sequence || sequence > info.last_sequence()) return true;
    found = record_of_unit(decoder, unit, info, info.base_offset + (sequence - info.base_sequence));
    return true;
  });
  return found;
}

}  // namespace tk
