// Control records (kafka-on-disk.md §2.7): the ends of transactions, and what a KRaft quorum writes into its
// own log. They take offsets and are never shown to applications.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/text.h"
#include "core/format/fault.h"
#include "core/format/record.h"

namespace tk {

enum class ControlType : std::int8_t {
  unknown = -1,  // a type of a later release: the record is stepped over, its offset counts
  abort = 0,
  commit = 1,
  leader_change = 2,
  snapshot_header = 3,
  snapshot_footer = 4,
  kraft_version = 5,
  kraft_voters = 6,
};

/// A control record's key.
struct ControlKey {
  ControlType type = ControlType::unknown;
  /// The number that stands for the type, as stored.
  std::int16_t type_id = -1;

  [[nodiscard]] bool ends_transaction() const {
    return type == ControlType::abort || type == ControlType::commit;
  }
};

/// Reads the key of a record in a control batch. A null key, one below 4 bytes, or a negative version is a
/// fault of kind `record`; a version above 0 and bytes behind the type are taken.
Fault parse_control_key(const std::optional<std::string_view>& key, ControlKey& out);

/// Reads the value of an ABORT or COMMIT marker, which is the epoch of the transaction coordinator that wrote
/// it. A null or short value or a negative version is a fault of kind `record`; longer values are taken.
Fault parse_end_marker(const std::optional<std::string_view>& value, std::int32_t& coordinator_epoch);

/// The key (version 0) and value (version 0) of an end marker.
std::array<char, 4> end_marker_key(bool commit);
std::array<char, 6> end_marker_value(std::int32_t coordinator_epoch);

/// Appends what Kafka's dump tool prints of a control record behind its metadata, with the blank that leads
/// it: ` endTxnMarker: COMMIT coordinatorEpoch: 3`, ` SnapshotHeader {json}`, ` controlType: UNKNOWN(7)` and
/// so on (§15.2). On a fault (kind `record`) nothing is appended. Unlike the tool it reads a leader change by
/// the version that its value begins with.
Fault append_control_text(TextBuffer& to, const RecordView& record);

}  // namespace tk
