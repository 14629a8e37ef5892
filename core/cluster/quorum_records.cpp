#include "core/cluster/quorum_records.h"

#include "core/base/error.h"
#include "core/format/batch.h"
#include "core/format/schema_value.h"

namespace tk {
namespace {

/// A control batch of one record; its key is version 0 and the type.
UnitInfo encode_control(Buffer& out, Offset offset, LeaderEpoch epoch, char kind, const SchemaType& type,
                        const SchemaValue& message, std::int64_t now) {
  Buffer value;
  if (const Fault fault = encode_schema(type, message, value))
    throw Error(ErrorCode::unknown_server_error, fault.detail);
  const char key[] = {0, 0, 0, kind};
  BatchBuilder builder;
  Compressor compressor;
  builder.start(now);
  builder.add(out, now, std::string_view(key, sizeof key), as_text(value.view()), {});
  BatchFields fields;
  fields.base_offset = offset;
  fields.leader_epoch = epoch;
  fields.attribute_bits = kControlBit;
  return builder.finish(fields, {}, compressor, out);
}

}  // namespace

UnitInfo encode_leader_change(Buffer& out, Offset offset, LeaderEpoch epoch, std::int32_t leader,
                              const std::vector<std::int32_t>& voters, std::int64_t now) {
  const SchemaType& type = *internal_schemas().find("LeaderChangeMessage", 0);
  SchemaValue message = SchemaValue::of(type);
  message["leader_id"] = leader;
  SchemaValue::Array all;
  for (const std::int32_t id : voters) {
    SchemaValue voter =
        SchemaValue::of(*type.fields[static_cast<std::size_t>(type.index_of("voters"))].type.element);
    voter["voter_id"] = id;
    all.push_back(std::move(voter));
  }
  message["voters"] = all;
  message["granting_voters"] = std::move(all);
  return encode_control(out, offset, epoch, 2, type, message, now);
}

UnitInfo encode_snapshot_header(Buffer& out, Offset offset, LeaderEpoch epoch, std::int64_t now) {
  const SchemaType& type = *internal_schemas().find("SnapshotHeaderRecord", 0);
  SchemaValue message = SchemaValue::of(type);
  message["last_contained_log_timestamp"] = now;
  return encode_control(out, offset, epoch, 3, type, message, now);
}

UnitInfo encode_snapshot_footer(Buffer& out, Offset offset, LeaderEpoch epoch, std::int64_t now) {
  const SchemaType& type = *internal_schemas().find("SnapshotFooterRecord", 0);
  return encode_control(out, offset, epoch, 4, type, SchemaValue::of(type), now);
}

}  // namespace tk
