#include "core/cluster/metadata_log.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/cluster/metadata_snapshot.h"
#include "core/log/log_view.h"
#include "core/log/view_walk.h"

namespace tk {
namespace {

constexpr std::size_t kMaxBatch = 8U << 20;

Fault replay_unit(RecordDecoder& decoder, ByteView unit, const UnitInfo& info, MetadataImage& image) {
  if (info.control) return {};
  Fault problem;
  const Fault damage = decoder.decode(unit, info, [&](const RecordView& record) {
    if (problem) return;
    InternalRecord read;
    problem = decode_metadata_record(record.value, read);
    if (!problem) problem = image.apply(read, record.offset);
  });
  return damage ? damage : problem;
}

}  // namespace

Fault replay_units(ByteView bytes, MetadataImage& image, std::uint64_t& position) {
  RecordDecoder decoder;
  position = 0;
  while (position < bytes.size()) {
    const ByteView rest = bytes.subspan(position);
    const Frame frame = frame_unit(rest, rest.size());
    if (frame.status != FrameStatus::whole)
      return frame.fault ? frame.fault : Fault{FaultKind::torn_tail, "a batch is cut"};
    const ByteView unit = rest.first(frame.size);
    UnitInfo info;
    if (const Fault fault = check_unit(unit, frame.kind)) return fault;
    if (const Fault fault = read_unit_info(unit, frame.kind, info)) return fault;
    if (const Fault fault = replay_unit(decoder, unit, info, image)) return fault;
    position += frame.size;
  }
  return {};
}

void MetadataLog::replay(MetadataImage& image) {
  QuorumVoter& source = quorum_.best_copy();
  const std::string& directory = source.directory();
  Offset from(0);
  if (const auto snapshot = newest_snapshot(fs_, directory)) {
    load_snapshot(fs_, join_path(directory, snapshot_name(*snapshot)), image);
    from = snapshot->end;
    replayed_epoch_ = snapshot->epoch;
  }
  replayed_ = from;
  // A voter that is alone has committed what it has.
  const bool alone = quorum_.voters().size() == 1;
  replay_log(directory, from, alone ? Offset(INT64_MAX) : quorum_.committed(), image);
}

void MetadataLog::replay_log(const std::string& directory, Offset from, Offset limit, MetadataImage& image) {
  const auto refuse = [](const std::string& detail, const std::string& path, std::uint64_t position) {
    throw Error(ErrorCode::corrupt_state, fmt::format("the metadata log is damaged here: {}", detail))
        .at(path, position)
        .hint(fmt::format("look with 'tk dump-log {}'; nothing is guessed about what it said", path));
  };
  const LogView view = open_log_view(fs_, directory);
  if (first_base(view) > from && !view.empty())
    refuse(
        fmt::format("the snapshot ends at {}, the log begins at {}", from.value(), first_base(view).value()),
        view.files.segments.front().log_path, 0);
  RecordDecoder decoder;
  Fault problem;
  std::string where;
  std::uint64_t position = 0;
  walk_view(
      fs_, view, from,
      [&](ByteView unit, const UnitInfo& info, const SegmentFile& segment) {
        if (problem) return false;  // what stands behind damage says nothing
        if (info.base_offset < from) return true;
        if (info.last_offset >= limit) return false;
        problem = replay_unit(decoder, unit, info, image);
        where = segment.log_path;
        replayed_epoch_ = std::max(replayed_epoch_, info.leader_epoch);
        if (!problem) position += unit.size();
        if (!problem) replayed_ = info.last_offset + 1;
        return !problem;
      },
      [&](const WalkDamage& damage) {
        if (problem) return;
        problem = damage.fault;
        where = damage.path;
        position = damage.position;
      });
  if (problem) refuse(problem.detail, where, position);
}

QuorumVoter& MetadataLog::leader() {
  QuorumVoter* leading = quorum_.leader();
  if (leading == nullptr)
    throw Error(ErrorCode::leader_not_available, "the controllers have no leader: nothing can be decided");
  quorum_.open();
  return *leading;
}

Offset MetadataLog::end() {
  return leader().log().end();
}

Offset MetadataLog::append(const std::vector<MetadataRecord>& records) {
  QuorumVoter& leading = leader();
  const std::int64_t now = now_();
  batch_.clear();
  builder_.start(now);
  for (const MetadataRecord& record : records) {
    value_.clear();
    if (const Fault fault = encode_metadata_record(record.name, record.version, record.value, value_)) {
      builder_.abandon(batch_);
      throw Error(ErrorCode::unknown_server_error,
                  fmt::format("a {} cannot be written: {}", record.name, fault.detail));
    }
    builder_.add(batch_, now, std::nullopt, as_text(value_.view()), {});
  }
  if (builder_.size() > kMaxBatch) {
    builder_.abandon(batch_);
    throw Error(ErrorCode::message_too_large, "a change is too large for one batch of the metadata log")
        .at(leading.directory());
  }
  BatchFields fields;
  fields.base_offset = leading.log().end();
  fields.leader_epoch = leading.epoch();
  const UnitInfo info = builder_.finish(fields, {}, compressor_, batch_);
  leading.append_batch(info, batch_.view());
  if (!quorum_.commit(now)) {
    throw Error(ErrorCode::leader_not_available,
                "no majority of the controllers has taken the change: it may be decided or not")
        .at(leading.directory());
  }
  return fields.base_offset;
}

void MetadataLog::shorten(const MetadataImage& image) {
  for (auto& [id, voter] : quorum_.voters()) {
    if (!voter->up() || !voter->log().is_open()) continue;
    const auto before = newest_snapshot(fs_, voter->directory());
    std::uint64_t had = longest;
    if (before) {
      // What is kept is worth twice what it cost.
      const auto file = fs_.stat(join_path(voter->directory(), snapshot_name(*before)));
      had = std::max(had, 2 * (file ? file->size : 0));
    }
    std::uint64_t grown = 0;
    for (const SegmentFile& segment : list_partition(fs_, voter->directory()).segments) grown += segment.size;
    // Only what is committed is in the state, and a voter that is behind keeps what it has.
    const Offset end = voter->log().end();
    if (grown <= had || end != quorum_.committed()) continue;
    const SnapshotId made{end, voter->log().epochs().latest().value_or(LeaderEpoch(0))};
    voter->log().force();
    replace_atomically(fs_, join_path(voter->directory(), snapshot_name(made)),
                       encode_snapshot(image, made, now_()).view(), voter->log().forces());
    voter->log().start_at(end);
    remove_snapshots_before(fs_, voter->directory(), made);
  }
}

}  // namespace tk
