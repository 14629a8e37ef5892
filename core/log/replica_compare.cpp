#include "core/log/replica_compare.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "core/base/error.h"
#include "core/format/checkpoint_file.h"
#include "core/format/record_decoder.h"
#include "core/log/partition_cursor.h"
#include "core/log/segment_names.h"
#include "core/log/unit_walk.h"

namespace tk {
namespace {

/// The good units of a replica one by one.
class UnitStream {
 public:
  struct Unit {
    ByteView bytes;
    UnitKind kind = UnitKind::batch;
    UnitInfo info;
  };

  UnitStream(FileSystem& fs, const LogView& view, Offset start) : cursor_(fs, view, start), start_(start) {
    advance();
  }
  /// Null at the end.
  [[nodiscard]] const Unit* unit() const { return at_ < units_.size() ? &units_[at_] : nullptr; }
  void advance() {
    if (++at_ < units_.size()) return;
    at_ = 0;
    units_.clear();
    while (units_.empty() && cursor_.next(chunk_)) collect();
  }

 private:
  void collect() {
    for (const Stretch& stretch : chunk_.scan.stretches) {
      if (stretch.kind != StretchKind::units) continue;
      walk_units(
          chunk_.scan, stretch,
          [&](ByteView bytes, UnitKind kind, std::uint64_t) {
            Unit unit{bytes, kind, {}};
            if (!read_unit_info(bytes, kind, unit.info) && unit.info.last_offset >= start_)
              units_.push_back(unit);
          },
          [](std::uint64_t, std::uint64_t, const Fault&, ByteView) {});
    }
  }

  PartitionCursor cursor_;
  Offset start_;
  CursorChunk chunk_;
  std::vector<Unit> units_;
  std::size_t at_ = SIZE_MAX;
};

bool same_bytes(ByteView a, ByteView b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

/// A record's content by offset; what cannot be decoded has none.
std::map<Offset, std::string> records_of(const UnitStream::Unit& unit, RecordDecoder& decoder) {
  std::map<Offset, std::string> records;
  const auto part = [](std::string& to, const std::optional<std::string_view>& bytes) {
    to += bytes ? std::to_string(bytes->size()) + ":" : "-:";
    if (bytes) to.append(*bytes);
  };
  const Fault fault = decoder.decode(unit.bytes, unit.info, [&](const RecordView& record) {
    std::string& to = records[record.offset];
    to = std::to_string(record.timestamp) + " ";
    part(to, record.key);
    part(to, record.value);
    for (const HeaderView& header : record.headers) {
      part(to, header.name);
      part(to, header.value);
    }
  });
  if (fault) records.clear();
  return records;
}

/// The first offset at which two units of different bytes differ, as their records tell; the header is to
/// blame if those are the same.
Offset first_difference(const UnitStream::Unit& a, const UnitStream::Unit& b) {
  RecordDecoder decoder;
  const auto of_a = records_of(a, decoder);
  const auto of_b = records_of(b, decoder);
  const Offset begin = std::max(a.info.base_offset, b.info.base_offset);
  for (const auto& [offset, content] : of_a) {
    const auto other = of_b.find(offset);
    if (offset >= begin && (other == of_b.end() || other->second != content)) return offset;
  }
  for (const auto& [offset, content] : of_b) {
    if (offset >= begin && !of_a.contains(offset)) return offset;
  }
  return begin;
}

class Comparison {
 public:
  Comparison(FileSystem& fs, const std::vector<Replica>& replicas, ReplicaComparison& result)
      : replicas_(replicas), result_(result) {
    Offset start(0);
    for (const Replica& replica : replicas) start = std::max(start, replica.view.log_start);
    result_.common_end = start;
    for (const Replica& replica : replicas)
      streams_.push_back(std::make_unique<UnitStream>(fs, replica.view, start));
  }

  void run(const std::function<bool()>& stopped) {
    for (std::uint64_t n = 0;; ++n) {
      if (n % 4096 == 0 && stopped()) return;
      if (!step()) break;
    }
    if (result_.first_difference) return;
    Offset end = replicas_.front().view.log_end;
    for (const Replica& replica : replicas_) end = std::min(end, replica.view.log_end);
    result_.common_end = std::max(result_.common_end, end);
  }

 private:
  /// Compares the units that end first; false at a difference, or where one is through.
  bool step() {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const UnitStream::Unit* const unit = streams_[i]->unit();
      if (unit == nullptr) return ended(i);
      if (!first || unit->info.last_offset < streams_[*first]->unit()->info.last_offset) first = i;
    }
    const UnitStream::Unit& lowest = *streams_[*first]->unit();
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (i == *first) continue;
      const UnitStream::Unit& other = *streams_[i]->unit();
      if (other.kind == lowest.kind && same_bytes(other.bytes, lowest.bytes)) continue;
      const bool overlap = other.info.base_offset <= lowest.info.last_offset;
      differ(*first, i, overlap ? tk::first_difference(lowest, other) : lowest.info.base_offset, !overlap);
      return false;
    }
    if (lowest.info.leader_epoch.value() >= 0) result_.common_epoch = lowest.info.leader_epoch;
    result_.common_end = lowest.info.last_offset + 1;
    for (const auto& stream : streams_) stream->advance();
    return true;
  }

  /// One replica has no more units. That its log ends here is no difference; that it lacks some is.
  bool ended(std::size_t i) {
    for (std::size_t other = 0; other < streams_.size(); ++other) {
      const UnitStream::Unit* const unit = streams_[other]->unit();
      if (unit == nullptr || unit->info.base_offset >= replicas_[i].view.log_end) continue;
      differ(i, other, unit->info.base_offset, true);
      break;
    }
    return false;
  }

  void differ(std::size_t a, std::size_t b, Offset at, bool missing) {
    result_.first_difference = at;
    result_.differs_a = std::min(a, b);
    result_.differs_b = std::max(a, b);
    result_.missing = missing;
    result_.common_end = at;
  }

  const std::vector<Replica>& replicas_;
  ReplicaComparison& result_;
  std::vector<std::unique_ptr<UnitStream>> streams_;
};

}  // namespace

Replica open_replica(FileSystem& fs, const std::string& directory, std::optional<Offset> log_start,
                     std::optional<Offset> high_watermark) {
  Replica replica;
  replica.directory = directory;
  replica.view = open_log_view(fs, directory, log_start);
  replica.high_watermark = high_watermark;
  if (!replica.view.files.has_leader_epochs) return replica;
  try {
    const auto held = parse_leader_epoch_checkpoint(read_whole(fs, join_path(directory, kLeaderEpochFile)));
    if (!held.fault) replica.epochs = LeaderEpochs(held.entries);
  } catch (const Error&) {
    // The comparison does without; verify has named it.
  }
  return replica;
}

Offset truncation_offset(const Replica& follower, const Replica& leader) {
  const Offset end = follower.view.log_end;
  std::optional<LeaderEpoch> asked = follower.epochs.latest();
  if (!asked || leader.epochs.empty()) return std::min(end, leader.view.log_end);
  for (;;) {
    const LeaderEpochs::End of_leader = leader.epochs.end_offset_for(*asked, leader.view.log_end);
    // Undefined: a follower that is ahead goes back to its high watermark.
    if (of_leader.offset.value() < 0) return std::min(end, follower.high_watermark.value_or(end));
    const LeaderEpochs::End own = follower.epochs.end_offset_for(of_leader.epoch, end);
    if (own.offset.value() < 0) return std::min(of_leader.offset, end);
    if (own.epoch == of_leader.epoch || own.epoch >= *asked)
      return std::min({of_leader.offset, own.offset, end});
    asked = own.epoch;
  }
}

ReplicaComparison compare_replicas(FileSystem& fs, const std::vector<Replica>& replicas,
                                   const std::function<bool()>& stopped) {
  ReplicaComparison result;
  const auto rank = [](const Replica& replica) {
    return std::pair(replica.epochs.latest().value_or(kNoLeaderEpoch), replica.view.log_end);
  };
  for (std::size_t i = 1; i < replicas.size(); ++i) {
    if (rank(replicas[i]) > rank(replicas[result.leader])) result.leader = i;
  }
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    result.truncate_to.push_back(i == result.leader
                                     ? replicas[i].view.log_end
                                     : truncation_offset(replicas[i], replicas[result.leader]));
  }
  Comparison(fs, replicas, result).run(stopped);
  return result;
}

}  // namespace tk
