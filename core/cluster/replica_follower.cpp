#include <fmt/format.h>

#include <algorithm>

#include "core/cluster/replica.h"
#include "core/format/unit.h"

namespace tk {
namespace {

constexpr std::string_view kErrorNames[] = {
    "NONE",
    "NOT_LEADER_OR_FOLLOWER",
    "FENCED_LEADER_EPOCH",
    "UNKNOWN_LEADER_EPOCH",
    "STALE_BROKER_EPOCH",
    "OFFSET_OUT_OF_RANGE",
    "NOT_ENOUGH_REPLICAS",
    "CORRUPT_MESSAGE",
    "INVALID_PRODUCER_EPOCH",
    "OUT_OF_ORDER_SEQUENCE_NUMBER",
    "TRANSACTION_COORDINATOR_FENCED",
    "STORAGE_ERROR",
};

/// Leaves of the units those that are what a leader may send: bytes that rot there go no further. False if
/// none of them is. Offsets and epochs lie outside of the checksum; they rise, and end where the leader's do.
/// Where they do not, an offset before a gap may be the wrong one: then what is left has no gap.
bool keep_sound(FetchReply& reply) {
  StoredUnits& units = reply.units;
  const std::size_t sent = units.units.size();
  std::size_t at = 0, kept = 0, kept_bytes = 0;
  Offset next = reply.request.offset;
  LeaderEpoch epoch = kNoLeaderEpoch;
  bool gap = false;
  std::size_t sound = 0;
  for (const UnitInfo& unit : units.units) {
    if (unit.base_offset < next || unit.last_offset < unit.base_offset || unit.last_offset >= reply.log_end)
      break;
    if (unit.leader_epoch < epoch || unit.leader_epoch > reply.request.leader_epoch) break;
    if (check_unit(units.bytes.view().subspan(at, unit.size), unit.kind)) break;
    gap |= unit.base_offset != next;
    at += unit.size;
    ++sound;
    if (!gap) {
      kept = sound;
      kept_bytes = at;
    }
    next = unit.last_offset + 1;
    epoch = unit.leader_epoch;
  }
  if (sound == sent) return true;
  units.units.resize(kept);
  units.bytes.resize(kept_bytes);
  units.records = 0;
  for (const UnitInfo& unit : units.units) units.records += unit.last_offset - unit.base_offset + 1;
  return kept > 0;
}

}  // namespace

std::string_view replica_error_name(ReplicaError error) {
  return kErrorNames[static_cast<std::size_t>(error)];
}

std::string_view ack_level_name(AckLevel level) {
  constexpr std::string_view names[] = {"0", "1", "all"};
  return names[static_cast<std::size_t>(level)];
}

void PartitionReplica::set_high_watermark(Offset to) {
  const Offset from = memory_.high_watermark;
  if (from == to) return;
  memory_.high_watermark = to;
  host_.high_watermark_moved(*this, from);
}

void PartitionReplica::settle_high_watermark(Offset checkpointed) {
  memory_.high_watermark = std::max(std::min(checkpointed, log_.end()), log_.start());
}

Offset PartitionReplica::last_stable_offset() {
  return std::min(memory_.high_watermark, log_.first_unstable());
}

void PartitionReplica::learn(const PartitionRegistration& state) {
  if (state.partition_epoch < memory_.partition_epoch) return;
  const bool was_leader = leads();
  const bool new_epoch = LeaderEpoch(state.leader_epoch) > memory_.leader_epoch;
  memory_.isr = state.isr;
  memory_.partition_epoch = state.partition_epoch;
  if (!new_epoch) {
    advance_high_watermark();
    return;
  }
  memory_.leader_epoch = LeaderEpoch(state.leader_epoch);
  memory_.leader = state.leader;
  if (state.leader == broker_) {
    become_leader(state, was_leader);
  } else {
    become_follower();
  }
}

void PartitionReplica::become_follower() {
  for (const PendingAck& pending : memory_.pending) {
    host_.answered(*this, AckLevel::all, pending.first, pending.last, pending.epoch,
                   ReplicaError::not_leader_or_follower);
  }
  memory_.pending.clear();
  memory_.followers.clear();
  memory_.role = ReplicaRole::follower;
  memory_.asks_end_of_epoch = false;
  if (memory_.leader == kNoBroker) return;
  const Truncation mode = host_.settings(*this).truncation;
  if (mode == Truncation::hw) truncate(memory_.high_watermark);
  memory_.asks_end_of_epoch =
      mode == Truncation::kip101 || mode == Truncation::kip279 || mode == Truncation::kip320;
}

std::optional<FetchRequest> PartitionReplica::next_fetch(std::int64_t max_records) {
  if (memory_.role != ReplicaRole::follower || memory_.leader == kNoBroker) return std::nullopt;
  FetchRequest request;
  request.follower = broker_;
  request.leader = memory_.leader;
  request.offset = log_.end();
  request.leader_epoch = memory_.leader_epoch;
  request.broker_epoch = host_.broker_epoch(broker_);
  request.max_records = max_records;
  request.number = ++memory_.fetch_number;
  memory_.awaits_reply = true;
  const auto latest = log_.epochs().latest();
  request.asks_end_of_epoch = memory_.asks_end_of_epoch && latest.has_value();
  if (latest && (request.asks_end_of_epoch || host_.settings(*this).truncation == Truncation::fetch))
    request.last_epoch = *latest;
  return request;
}

std::int64_t PartitionReplica::truncate(Offset to) {
  const Offset before = log_.end();
  const std::int64_t gone = log_.truncate(to);
  if (gone > 0) host_.truncated(*this, before, log_.end());
  if (memory_.high_watermark > log_.end()) set_high_watermark(log_.end());
  return gone;
}

std::string PartitionReplica::take(FetchReply& reply) {
  // Whatever happened to the log meanwhile, the reply speaks of another one.
  if (memory_.role != ReplicaRole::follower || reply.request.leader_epoch != memory_.leader_epoch ||
      reply.request.offset != log_.end())
    return "dropped";
  if (!memory_.awaits_reply || reply.request.number != memory_.fetch_number) return "dropped";
  memory_.awaits_reply = false;
  if (reply.error == ReplicaError::offset_out_of_range) return take_out_of_range(reply);
  if (reply.error != ReplicaError::none) return std::string(replica_error_name(reply.error));
  if (reply.has_end) return take_end(reply);
  if (!keep_sound(reply)) return std::string(replica_error_name(ReplicaError::corrupt_message));
  if (memory_.asks_end_of_epoch) memory_.asks_end_of_epoch = false;
  log_.append_copied(reply.units);
  set_high_watermark(std::max(std::min(reply.high_watermark, log_.end()), log_.start()));
  if (reply.log_start > log_.start()) log_.start_at(std::min(reply.log_start, log_.end()));
  return fmt::format("+{} hw={}", reply.units.records, memory_.high_watermark.value());
}

// KIP-101 and KIP-279: where this log and the leader's part, as far as one answer tells.
std::string PartitionReplica::take_end(const FetchReply& reply) {
  const Truncation mode = host_.settings(*this).truncation;
  if (mode == Truncation::kip101) {
    memory_.asks_end_of_epoch = false;
    const Offset to =
        reply.end.epoch == kNoLeaderEpoch ? memory_.high_watermark : std::min(reply.end.offset, log_.end());
    return fmt::format("truncated {}", truncate(to));
  }
  if (reply.end.epoch == kNoLeaderEpoch) {
    memory_.asks_end_of_epoch = false;
    return fmt::format("truncated {} (to HW)", truncate(memory_.high_watermark));
  }
  const LeaderEpochs::End mine = log_.epochs().end_offset_for(reply.end.epoch, log_.end());
  Offset to = std::min(reply.end.offset, log_.end());
  bool again = false;
  if (mine.epoch != kNoLeaderEpoch) {
    again = mine.epoch != reply.end.epoch;
    to = again ? std::min(mine.offset, log_.end()) : std::min(mine.offset, to);
  }
  const std::int64_t gone = truncate(to);
  const std::string answer = fmt::format("({},{})", reply.end.epoch.value(), reply.end.offset.value());
  if (mode == Truncation::fetch) return fmt::format("diverging {} truncated {}", answer, gone);
  memory_.asks_end_of_epoch = again;
  return fmt::format("OffsetsForLeaderEpoch({})->{} truncated {}", reply.request.last_epoch.value(), answer,
                     gone);
}

std::string PartitionReplica::take_out_of_range(const FetchReply& reply) {
  if (reply.log_end < log_.end())
    return fmt::format("OFFSET_OUT_OF_RANGE truncated {}", truncate(reply.log_end));
  if (reply.log_start <= log_.end()) return "OFFSET_OUT_OF_RANGE";
  log_.restart_at(reply.log_start);
  memory_.high_watermark = reply.log_start;
  return fmt::format("OFFSET_OUT_OF_RANGE restart at {}", reply.log_start.value());
}

}  // namespace tk
