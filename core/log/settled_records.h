// The records of an internal topic as its coordinator replays them (kafka-on-disk.md §13.1): those outside of
// transactions at once, those of a transaction when it has committed.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/format/record_decoder.h"
#include "core/log/transactions.h"
#include "core/log/view_walk.h"

namespace tk {

struct SettledRecord {
  std::optional<std::string> key, value;
  Offset offset;
  std::int64_t timestamp = kNoTimestamp;

  [[nodiscard]] std::optional<std::string_view> key_view() const {
    return key ? std::optional<std::string_view>(*key) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::string_view> value_view() const {
    return value ? std::optional<std::string_view>(*value) : std::nullopt;
  }
};

/// Calls `take(const SettledRecord&)` for each, and `damage(WalkDamage)` for what cannot be read. Records of
/// a transaction come when it commits, so their offsets may lie below those that came before: what is newer
/// in the log counts. Records of open transactions are held in memory.
template <class Take, class Damage>
void walk_settled_records(FileSystem& fs, const LogView& view, Take&& take, Damage&& damage) {
  std::map<ProducerId, std::vector<SettledRecord>> pending;
  RecordDecoder decoder;
  std::vector<SettledRecord> of_unit;
  walk_view(
      fs, view, view.log_start,
      [&](ByteView unit, const UnitInfo& info, const SegmentFile& segment) {
        if (info.control) {
          if (is_end_marker(unit, info)) {
            const auto held = pending.find(info.producer_id);
            if (held != pending.end() && !is_abort_marker(unit, info)) {
              for (const SettledRecord& record : held->second) take(record);
            }
            if (held != pending.end()) pending.erase(held);
          }
          return true;
        }
        of_unit.clear();
        const Fault fault = decoder.decode(unit, info, [&](const RecordView& record) {
          if (record.offset < view.log_start) return;
          SettledRecord settled;
          if (record.key) settled.key = std::string(*record.key);
          if (record.value) settled.value = std::string(*record.value);
          settled.offset = record.offset;
          settled.timestamp = record.timestamp;
          of_unit.push_back(std::move(settled));
        });
        if (fault) {
          damage(WalkDamage{segment.log_path, 0, fault});
          return true;
        }
        if (info.transactional) {
          auto& held = pending[info.producer_id];
          held.insert(held.end(), of_unit.begin(), of_unit.end());
        } else {
          for (const SettledRecord& record : of_unit) take(record);
        }
        return true;
      },
      damage);
}

}  // namespace tk
