#include "core/cluster/quorum_records.h"

#include "core/base/error.h"
#include "core/format/batch.h"
#include "core/format/schema_value.h"

namespace tk {

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
  Buffer value;
  if (const Fault fault = encode_schema(type, message, value))
    throw Error(ErrorCode::unknown_server_error, fault.detail);
  // Version 0, type 2.
  constexpr std::string_view key("\0\0\0\2", 4);
  BatchBuilder builder;
  Compressor compressor;
  builder.start(now);
  builder.add(out, now, key, as_text(value.view()), {});
  BatchFields fields;
  fields.base_offset = offset;
  fields.leader_epoch = epoch;
  fields.attribute_bits = kControlBit;
  return builder.finish(fields, {}, compressor, out);
}

}  // namespace tk
