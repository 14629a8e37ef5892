// Records of Kafka's internal topics: the number and version that stand before the message, and which schema
// they choose (kafka-on-disk.md §13).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/buffer.h"
#include "core/format/fault.h"
#include "core/format/schema_value.h"

namespace tk {

/// A message with the record it is of.
struct InternalRecord {
  /// Null when the number is of no record known here: a later release's, stepped over by who replays.
  const SchemaRecord* record = nullptr;
  std::int32_t type_id = -1;
  std::int32_t version = 0;
  SchemaValue value;
};

/// Reads the value of a record in `__cluster_metadata`: frame version 1, API key and version as unsigned
/// varints, then the message (§13.4.1). A null, another frame version, or a message that does not parse is a
/// fault of kind `record`; so is an unknown version of a known record (detail "unknown version", `found` the
/// version). An unknown API key is none: `record` is null then.
Fault decode_metadata_record(const std::optional<std::string_view>& value, InternalRecord& out);

/// The same for the records of a family in that frame: "metadata", or "log" for `__remote_log_metadata`.
Fault decode_framed_record(std::string_view family, const std::optional<std::string_view>& value,
                           InternalRecord& out);

/// Appends the framed form of a message of the metadata log. Faults as those of encode_schema, or an unknown
/// version.
Fault encode_metadata_record(std::string_view name, int version, const SchemaValue& value, Buffer& out);

/// Reads the key of a record of `__consumer_offsets` ("group"), `__transaction_state` ("transaction") or
/// `__share_group_state` ("share"): a 16-bit type, then the message (§13.1).
Fault decode_coordinator_key(std::string_view family, const std::optional<std::string_view>& key,
                             InternalRecord& out);

/// Reads the value that belongs to a key of this type: a 16-bit version, then the message.
Fault decode_coordinator_value(std::string_view family, int type_id,
                               const std::optional<std::string_view>& value, InternalRecord& out);

}  // namespace tk
