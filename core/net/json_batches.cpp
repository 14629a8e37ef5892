#include "core/net/json_batches.h"

#include <fmt/format.h>

#include "core/format/control_record.h"
#include "core/format/record_decoder.h"
#include "core/log/partition_cursor.h"
#include "core/log/unit_walk.h"
#include "core/net/service.h"
#include "core/net/unit_heads.h"

namespace tk::net {
namespace {

/// What one batch of converted records holds (serve.md §2.5).
constexpr std::size_t kBatchRecords = 16U << 10;
/// What one answer makes of a json log.
constexpr std::size_t kStretch = 1U << 20;

/// Puts json records together into batches.
class BatchMaker {
 public:
  explicit BatchMaker(Buffer& out) : out_(out) {}

  void add(const RecordView& record, const JsonFields& fields) {
    const std::size_t size = record.key.value_or("").size() + record.value.value_or("").size();
    if (open_ && (!goes_on(record, fields) || builder_.size_with(size) > kBatchHeader + kBatchRecords))
      close();
    if (!open_) begin(record.offset, fields);
    const auto delta = static_cast<std::int32_t>(record.offset - first_);
    if (fields.control == JsonControl::none) {
      builder_.add_at(out_, delta, record.timestamp, record.key, record.value, record.headers);
    } else if (fields.control != JsonControl::empty) {
      const auto key = end_marker_key(fields.control == JsonControl::commit);
      const auto value = end_marker_value(0);
      builder_.add_at(out_, delta, record.timestamp, std::string_view(key.data(), key.size()),
                      std::string_view(value.data(), value.size()), {});
    }
    last_ = record.offset;
    ++count_;
    if (fields.control != JsonControl::none) close();
  }
  void close() {
    if (!open_) return;
    open_ = false;
    if (builder_.count() == 0) return;
    BatchFields fields;
    fields.base_offset = first_;
    fields.last_offset_delta = static_cast<std::int32_t>(last_ - first_);
    fields.leader_epoch = fields_.leader_epoch;
    fields.producer_id = fields_.producer_id;
    fields.producer_epoch = fields_.producer_epoch;
    const bool marker = fields_.control != JsonControl::none;
    fields.base_sequence = fields_.producer_id.value() < 0 || marker ? -1 : fields_.sequence;
    if (fields_.transactional || marker) fields.attribute_bits |= kTransactionalBit;
    if (marker) fields.attribute_bits |= kControlBit;
    builder_.finish(fields, {}, compressor_, out_);
    if (first_size == 0) first_size = out_.size();
  }

  std::size_t first_size = 0;

 private:
  [[nodiscard]] bool goes_on(const RecordView& record, const JsonFields& fields) const {
    if (fields.control != JsonControl::none || fields.leader_epoch != fields_.leader_epoch ||
        fields.producer_id != fields_.producer_id || fields.producer_epoch != fields_.producer_epoch ||
        fields.transactional != fields_.transactional || record.offset - first_ > INT32_MAX)
      return false;
    if (fields.producer_id.value() < 0) return true;
    // Sequences stand for offsets: they go on together.
    return record.offset == last_ + 1 && fields.sequence == sequence_after(fields_.sequence, count_);
  }
  void begin(Offset offset, const JsonFields& fields) {
    open_ = true;
    first_ = offset;
    fields_ = fields;
    count_ = 0;
    builder_.start();
  }

  Buffer& out_;
  BatchBuilder builder_;
  Compressor compressor_;
  bool open_ = false;
  Offset first_, last_;
  std::int32_t count_ = 0;
  JsonFields fields_;
};

}  // namespace

std::shared_ptr<JsonBatches::Stretch> JsonBatches::find(const Partition& partition, Offset from,
                                                        Offset below) {
  const std::lock_guard lock(mutex_);
  for (auto at = kept_.begin(); at != kept_.end(); ++at) {
    const Stretch& stretch = **at;
    if (stretch.partition != &partition || stretch.from != from || stretch.next > below) continue;
    if (stretch.owner.expired()) continue;
    kept_.splice(kept_.begin(), kept_, at);
    return kept_.front();
  }
  return nullptr;
}

void JsonBatches::keep(std::shared_ptr<Stretch> stretch) {
  const std::lock_guard lock(mutex_);
  kept_bytes_ += stretch->bytes.capacity();
  kept_.push_front(std::move(stretch));
  while (kept_.size() > 1 && kept_bytes_ > kMostConverted) {
    kept_bytes_ -= kept_.back()->bytes.capacity();
    kept_.pop_back();
  }
}

// From the unit that holds the offset on, as for a stored batch: a client steps over what lies before.
std::shared_ptr<JsonBatches::Stretch> JsonBatches::convert(Partition& partition, Offset from, Offset below) {
  auto stretch = std::make_shared<Stretch>();
  stretch->partition = &partition;
  stretch->owner = partition.weak_from_this();
  stretch->from = stretch->next = from;
  const LogView view = partition.known_view();
  PartitionCursor cursor(service_.fs(), view, from);
  CursorChunk chunk;
  RecordDecoder decoder;
  BatchMaker maker(stretch->bytes);
  bool full = false;
  const auto left_out = [&](std::uint64_t position, const Fault& fault) {
    service_.warn(
        Error(ErrorCode::corrupt_message, fmt::format("{} ({})", fault_name(fault.kind), fault.detail))
            .at(chunk.segment->log_path, position));
  };
  while (!full && cursor.next(chunk)) {
    for (const tk::Stretch& part : chunk.scan.stretches) {
      if (part.kind == StretchKind::damage) {
        service_.warn(
            Error(ErrorCode::corrupt_message, fmt::format("{}: {} at byte {}", fault_name(part.fault.kind),
                                                          part.fault.detail, part.position))
                .at(chunk.segment->log_path, part.position));
      }
      if (part.kind != StretchKind::units) continue;
      walk_units(
          chunk.scan, part,
          [&](ByteView unit, UnitKind kind, std::uint64_t position) {
            UnitInfo info;
            if (full || read_unit_info(unit, kind, info)) return;
            if (info.last_offset < from || info.base_offset >= below) return;
            if (kind != UnitKind::json) {
              // With a good checksum the records may yet not be what the header says: a client would stop
              // there.
              if (const Fault fault = decoder.decode(unit, info, [](const RecordView&) {}))
                return left_out(position, fault);
              if (stretch->bytes.size() + unit.size() > kStretch && !stretch->bytes.empty()) {
                full = true;
                return;
              }
              stretch->bytes.append(unit);
              if (maker.first_size == 0) maker.first_size = unit.size();
            } else {
              const Fault fault = decoder.decode(
                  unit, info, [&](const RecordView& record) { maker.add(record, decoder.json().fields()); });
              if (fault) return left_out(position, fault);
            }
            stretch->next = info.last_offset + 1;
            full = stretch->bytes.size() >= kStretch;
          },
          [&](std::uint64_t position, std::uint64_t, const Fault& fault, ByteView) {
            left_out(position, fault);
          });
    }
  }
  maker.close();
  stretch->first_size = maker.first_size;
  // Nothing that can be read is left up to there.
  if (!full) stretch->next = below;
  if (!stretch->bytes.empty()) keep(stretch);
  return stretch;
}

}  // namespace tk::net
