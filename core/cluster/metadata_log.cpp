#include "core/cluster/metadata_log.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/cluster/quorum_records.h"
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

MetadataLog::MetadataLog(FileSystem& fs, std::string directory, Options options)
    : fs_(fs), directory_(std::move(directory)), options_(std::move(options)) {}

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
  const auto refuse = [](const Fault& fault, const std::string& path, std::uint64_t position) {
    throw Error(ErrorCode::corrupt_state, fmt::format("the metadata log is damaged here: {}", fault.detail))
        .at(path, position)
        .hint(fmt::format("look with 'tk dump-log {}'; nothing is guessed about what it said", path));
  };
  const LogView view = open_log_view(fs_, directory_);
  RecordDecoder decoder;
  Fault problem;
  std::string where;
  std::uint64_t position = 0;
  walk_view(
      fs_, view, first_base(view),
      [&](ByteView unit, const UnitInfo& info, const SegmentFile& segment) {
        problem = replay_unit(decoder, unit, info, image);
        where = segment.log_path;
        replayed_epoch_ = std::max(replayed_epoch_, info.leader_epoch);
        if (!problem) position += unit.size();
        return !problem;
      },
      [&](const WalkDamage& damage) {
        if (problem) return;
        problem = damage.fault;
        where = damage.path;
        position = damage.position;
      });
  if (problem) refuse(problem, where, position);
  replayed_ = view.log_end;
}

void MetadataLog::open() {
  PartitionLog::Options options;
  options.sync = options_.sync;
  options.lock_wait = options_.lock_wait;
  options.note = options_.note;
  log_ = std::make_unique<PartitionLog>(fs_, directory_, std::move(options));
  log_->begin();
}

void MetadataLog::close() {
  if (log_ == nullptr) return;
  log_->close();
  log_.reset();
}

Offset MetadataLog::append(const std::vector<MetadataRecord>& records, std::int64_t now) {
  if (!is_open()) open();
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
        .at(directory_);
  }
  return append_batch(0, now);
}

Offset MetadataLog::append_batch(std::uint16_t attributes, std::int64_t now) {
  static_cast<void>(now);
  BatchFields fields;
  fields.base_offset = log_->log_end();
  fields.leader_epoch = log_->leader_epoch();
  fields.attribute_bits = attributes;
  const UnitInfo info = builder_.finish(fields, {}, compressor_, batch_);
  log_->append_at(info, fields.leader_epoch, batch_.view());
  return fields.base_offset;
}

void MetadataLog::append_leader_change(std::int32_t leader, const std::vector<std::int32_t>& voters,
                                       std::int64_t now) {
  batch_.clear();
  const UnitInfo info =
      encode_leader_change(batch_, log_->log_end(), log_->leader_epoch(), leader, voters, now);
  log_->append_at(info, log_->leader_epoch(), batch_.view());
}

}  // namespace tk
