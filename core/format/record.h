// One record as every format gives it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/ids.h"

namespace tk {

enum class TimestampType : std::uint8_t { none, create_time, log_append_time };

/// "CreateTime" and so on, as Kafka's tools print it.
constexpr std::string_view timestamp_type_name(TimestampType type) {
  if (type == TimestampType::none) return "NoTimestampType";
  return type == TimestampType::create_time ? "CreateTime" : "LogAppendTime";
}

struct HeaderView {
  std::string_view name;
  std::optional<std::string_view> value;
};

/// A record that points into the bytes it was decoded from; valid until the decoder's next unit.
/// Null and empty keys, values and header values differ. Headers keep their order and may repeat.
struct RecordView {
  Offset offset;
  std::int64_t timestamp = kNoTimestamp;
  TimestampType timestamp_type = TimestampType::create_time;
  /// What the record of a batch was encoded with. In a batch with log append time it is not the record's
  /// timestamp (which is the batch's maximum), but what its producer had stamped; a rebuilt batch needs it.
  std::int64_t encoded_timestamp = kNoTimestamp;
  /// The producer's sequence number; -1 without one.
  std::int32_t sequence = -1;
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  std::span<const HeaderView> headers;
  /// The value is JSON text that stands for itself (json format with --json-values), not a string.
  bool value_is_json = false;
};

}  // namespace tk
