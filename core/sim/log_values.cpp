#include "core/sim/log_values.h"

#include "core/format/checkpoint_file.h"
#include "core/format/record_decoder.h"
#include "core/log/log_view.h"
#include "core/log/segment_names.h"
#include "core/log/view_walk.h"

namespace tk {

LogValues read_log_values(FileSystem& fs, const std::string& directory, Offset from, Offset to) {
  LogValues values;
  if (!fs.stat(directory)) return values;
  const LogView view = open_log_view(fs, directory);
  values.start = view.log_start;
  values.end = view.log_end;
  RecordDecoder decoder;
  Transactions transactions;
  struct Unit {
    UnitInfo info;
    std::size_t first;
  };
  std::vector<Unit> transactional;
  walk_view(
      fs, view, first_base(view),
      [&](ByteView unit, const UnitInfo& info, const SegmentFile&) {
        transactions.add(unit, info);
        if (info.last_offset < from) return true;
        if (info.base_offset >= to) return false;
        if (info.transactional && !info.control) transactional.push_back({info, values.records.size()});
        const Fault fault = decoder.decode(unit, info, [&](const RecordView& record) {
          if (record.offset < from || record.offset >= to) return;
          LoggedRecord& read = values.records.emplace_back();
          read.offset = record.offset;
          read.epoch = info.leader_epoch;
          read.producer = info.producer_id;
          read.producer_epoch = info.producer_epoch;
          read.sequence = record.sequence;
          read.marker = info.control;
          if (info.control) {
            read.value = is_abort_marker(unit, info) ? "ABORT" : "COMMIT";
          } else if (record.value) {
            read.value = *record.value;
          }
        });
        values.damaged |= static_cast<bool>(fault);
        return true;
      },
      [&](const WalkDamage&) { values.damaged = true; });
  transactions.finish();
  for (const Unit& unit : transactional) {
    if (!transactions.aborted(unit.info)) continue;
    for (std::size_t i = unit.first;
         i < values.records.size() && values.records[i].offset <= unit.info.last_offset; ++i)
      values.records[i].aborted = true;
  }
  return values;
}

}  // namespace tk
