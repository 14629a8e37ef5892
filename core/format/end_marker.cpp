#include "core/format/end_marker.h"

#include "core/format/batch.h"
#include "core/format/control_record.h"
#include "core/format/json_record.h"

namespace tk {
namespace {

void encode_json(Buffer& out, Offset offset, LeaderEpoch leader_epoch, const EndMarker& marker) {
  RecordView record;
  record.timestamp = marker.timestamp;
  JsonFields fields;
  fields.leader_epoch = leader_epoch;
  fields.producer_id = marker.producer;
  fields.producer_epoch = marker.epoch;
  fields.transactional = true;
  fields.control = marker.commit ? JsonControl::commit : JsonControl::abort;
  encode_json_record(out, offset, record, fields);
}

void encode_batch(Buffer& out, Offset offset, LeaderEpoch leader_epoch, const EndMarker& marker) {
  const auto key = end_marker_key(marker.commit);
  const auto value = end_marker_value(marker.coordinator_epoch);
  BatchBuilder builder;
  builder.start();
  builder.add(out, marker.timestamp, std::string_view(key.data(), key.size()),
              std::string_view(value.data(), value.size()), {});
  BatchFields fields;
  fields.base_offset = offset;
  fields.leader_epoch = leader_epoch;
  fields.attribute_bits = kTransactionalBit | kControlBit;
  fields.producer_id = marker.producer;
  fields.producer_epoch = marker.epoch;
  Compressor none;
  builder.finish(fields, {}, none, out);
}

}  // namespace

UnitInfo encode_end_marker(Buffer& out, TopicFormat format, Offset offset, LeaderEpoch leader_epoch,
                           const EndMarker& marker) {
  const std::size_t begin = out.size();
  const bool json = format == TopicFormat::json;
  (json ? encode_json : encode_batch)(out, offset, leader_epoch, marker);
  UnitInfo info;
  read_unit_info(out.view().subspan(begin), json ? UnitKind::json : UnitKind::batch, info);
  return info;
}

}  // namespace tk
