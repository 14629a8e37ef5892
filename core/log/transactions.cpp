#include "core/log/transactions.h"

#include <algorithm>

#include "core/format/control_record.h"
#include "core/format/record_decoder.h"
#include "core/log/view_walk.h"

namespace tk {
namespace {

enum class Marker : std::uint8_t { none, abort, commit };

Marker marker_of(ByteView unit, const UnitInfo& info) {
  if (!info.control || info.count == 0) return Marker::none;
  if (info.kind == UnitKind::json) {
    thread_local JsonRecordDecoder decoder;
    RecordView record;
    if (decoder.decode(unit, record)) return Marker::none;
    return decoder.fields().control == JsonControl::abort ? Marker::abort : Marker::commit;
  }
  thread_local RecordDecoder decoder;
  Marker marker = Marker::none;
  bool first = true;
  const Fault fault = decoder.decode(unit, info, [&](const RecordView& record) {
    if (!first || !record.key) return;
    first = false;
    // The key is a version and a type, both int16; any version counts (§2.7).
    if (record.key->size() < 4) return;
    const auto type = load_be<std::int16_t>(record.key->data() + 2);
    if (type == 0) marker = Marker::abort;
    if (type == 1) marker = Marker::commit;
  });
  return fault ? Marker::none : marker;
}

}  // namespace

bool is_abort_marker(ByteView unit, const UnitInfo& info) {
  return marker_of(unit, info) == Marker::abort;
}
bool is_end_marker(ByteView unit, const UnitInfo& info) {
  return marker_of(unit, info) != Marker::none;
}

void Transactions::add(ByteView unit, const UnitInfo& info) {
  if (info.producer_id.value() < 0) return;
  const auto mine = std::find_if(open_.begin(), open_.end(), [&](const OpenTransaction& open) {
    return open.producer == info.producer_id;
  });
  if (info.control) {
    const Marker marker = marker_of(unit, info);
    if (marker == Marker::none || mine == open_.end()) return;
    if (marker == Marker::abort) aborted_.push_back({info.producer_id, mine->first, info.last_offset});
    open_.erase(mine);
    return;
  }
  if (!info.transactional) return;
  if (mine != open_.end()) {
    ++mine->batches;
    return;
  }
  open_.push_back({info.producer_id, info.producer_epoch, info.base_offset, info.max_timestamp, 1});
}

void Transactions::finish() {
  std::sort(aborted_.begin(), aborted_.end(), [](const AbortedTransaction& a, const AbortedTransaction& b) {
    return a.producer != b.producer ? a.producer < b.producer : a.first < b.first;
  });
  std::sort(open_.begin(), open_.end(),
            [](const OpenTransaction& a, const OpenTransaction& b) { return a.first < b.first; });
}

bool Transactions::aborted(const UnitInfo& info) const {
  if (!info.transactional || info.control || info.producer_id.value() < 0) return false;
  // The last one of this producer that begins at or below the unit.
  auto above = std::upper_bound(aborted_.begin(), aborted_.end(), info,
                                [](const UnitInfo& unit, const AbortedTransaction& transaction) {
                                  return unit.producer_id != transaction.producer
                                             ? unit.producer_id < transaction.producer
                                             : unit.last_offset < transaction.first;
                                });
  if (above == aborted_.begin()) return false;
  --above;
  return above->producer == info.producer_id && info.base_offset <= above->last;
}

Offset Transactions::last_stable(Offset log_end) const {
  return open_.empty() ? log_end : std::min(open_.front().first, log_end);
}

Transactions scan_transactions(FileSystem& fs, const LogView& view) {
  Transactions transactions;
  walk_view(fs, view, first_base(view), [&](ByteView unit, const UnitInfo& info, const SegmentFile&) {
    transactions.add(unit, info);
    return true;
  });
  transactions.finish();
  return transactions;
}

}  // namespace tk
