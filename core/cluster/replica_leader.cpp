#include <algorithm>

#include "core/cluster/replica.h"
#include "core/format/end_marker.h"

namespace tk {

std::int32_t PartitionReplica::min_isr() const {
  return host_.rules().min_isr ? host_.settings(*this).effective_min_isr : 1;
}

bool PartitionReplica::refuses(AckLevel level) const {
  return level == AckLevel::all && static_cast<std::int32_t>(memory_.isr.size()) < min_isr();
}

void PartitionReplica::become_leader(const PartitionRegistration& state, bool was_leader) {
  const std::int64_t now = host_.now();
  const auto in_isr = [&](BrokerId id) { return holds(state.isr, id); };
  if (!was_leader) memory_.followers.clear();
  for (const BrokerId id : state.replicas) {
    if (id == broker_) continue;
    FollowerView& view = memory_.followers[id];
    view.caught_up_ms = in_isr(id) ? now : FollowerView::kNever;
    if (!was_leader) continue;
    view.leader_end = log_.end();
    view.fetched_ms = in_isr(id) ? now : 0;
  }
  memory_.role = ReplicaRole::leader;
  memory_.asks_end_of_epoch = false;
  memory_.epoch_start = log_.end();
  const Truncation mode = host_.settings(*this).truncation;
  if (mode != Truncation::hw && mode != Truncation::kip101) log_.begin_epoch(memory_.leader_epoch);
  memory_.pending.clear();
  advance_high_watermark();
}

PartitionReplica::Appended PartitionReplica::append(const NewRecord& record, AckLevel level) {
  if (!leads()) return {ReplicaError::not_leader_or_follower};
  if (refuses(level)) return {ReplicaError::not_enough_replicas};
  if (record.producer != kNoProducerId) {
    const AdmissionQuestion question{record.producer, record.producer_epoch, record.sequence, record.sequence,
                                     record.transactional};
    const Admission admission = admit(log_.producers(), question);
    switch (admission.verdict) {
      case Admission::Verdict::append:
        break;
      case Admission::Verdict::duplicate:
        if (host_.rules().sequence_check)
          return {ReplicaError::none, admission.copy.first_offset(), admission.copy.last_offset, true};
        break;
      case Admission::Verdict::old_epoch:
        if (host_.rules().producer_epoch) return {ReplicaError::invalid_producer_epoch};
        break;
      default:
        if (host_.rules().sequence_check) return {ReplicaError::out_of_order_sequence_number};
    }
  }
  const Offset at = log_.append(record, memory_.leader_epoch);
  took(at, at, level);
  return {ReplicaError::none, at, at};
}

PartitionReplica::Appended PartitionReplica::append_marker(const EndMarker& marker) {
  if (!leads()) return {ReplicaError::not_leader_or_follower};
  const ProducerEntry* known = log_.producers().find(marker.producer);
  if (known != nullptr && marker.epoch < known->epoch && host_.rules().producer_epoch)
    return {ReplicaError::invalid_producer_epoch};
  if (known != nullptr && marker.coordinator_epoch < known->coordinator_epoch)
    return {ReplicaError::transaction_coordinator_fenced};
  const Offset at = log_.append_marker(marker, memory_.leader_epoch);
  took(at, at, AckLevel::all);
  return {ReplicaError::none, at, at};
}

void PartitionReplica::took(Offset first, Offset last, AckLevel level) {
  if (host_.settings(*this).flush_each) log_.force();
  if (level == AckLevel::all) {
    memory_.pending.push_back({first, last, memory_.leader_epoch});
  } else {
    host_.answered(*this, level, first, last, memory_.leader_epoch, ReplicaError::none);
  }
  advance_high_watermark();
}

// A follower counts while it is in the maximal ISR, or has caught up and may join.
bool PartitionReplica::counts(BrokerId id, const FollowerView& view) const {
  const std::int64_t lag = host_.settings(*this).lag_ms;
  const bool recent = view.log_end == log_.end() || host_.now() - view.caught_up_ms <= lag;
  if (holds(memory_.isr, id)) return recent || host_.rules().isr_shrink_before_ack;
  return host_.now() - view.caught_up_ms <= lag && host_.active(id);
}

void PartitionReplica::advance_high_watermark() {
  if (!leads()) return;
  const auto isr_size = static_cast<std::int32_t>(memory_.isr.size());
  if (host_.settings(*this).strict_hw && isr_size < min_isr()) return;
  Offset candidate = log_.end();
  if (host_.rules().hw_waits_for_isr) {
    for (const auto& [id, view] : memory_.followers) {
      if (view.log_end < candidate && counts(id, view)) candidate = view.log_end;
    }
  }
  if (candidate > memory_.high_watermark) set_high_watermark(candidate);
  answer_pending();
}

void PartitionReplica::answer_pending() {
  const bool enough = static_cast<std::int32_t>(memory_.isr.size()) >= min_isr();
  std::vector<PendingAck> done;
  std::erase_if(memory_.pending, [&](const PendingAck& pending) {
    if (memory_.high_watermark <= pending.last) return false;
    done.push_back(pending);
    return true;
  });
  for (const PendingAck& pending : done) {
    host_.answered(*this, AckLevel::all, pending.first, pending.last, pending.epoch,
                   enough ? ReplicaError::none : ReplicaError::not_enough_replicas);
  }
}

FetchReply PartitionReplica::handle(const FetchRequest& request) {
  FetchReply reply;
  reply.request = request;
  const auto refuse = [&](ReplicaError error) {
    reply.error = error;
    return std::move(reply);
  };
  if (!leads()) return refuse(ReplicaError::not_leader_or_follower);
  const Truncation mode = host_.settings(*this).truncation;
  if (mode == Truncation::kip320 || mode == Truncation::fetch) {
    if (request.leader_epoch < memory_.leader_epoch) return refuse(ReplicaError::fenced_leader_epoch);
    if (request.leader_epoch > memory_.leader_epoch) return refuse(ReplicaError::unknown_leader_epoch);
  }
  if (host_.rules().broker_epoch && request.broker_epoch < host_.broker_epoch(request.follower))
    return refuse(ReplicaError::stale_broker_epoch);
  FollowerView& known = memory_.followers[request.follower];
  if (known.broker_epoch == request.broker_epoch && request.number <= known.number) {
    reply.ignored = true;
    return reply;
  }
  if (known.broker_epoch <= request.broker_epoch) {
    known.broker_epoch = request.broker_epoch;
    known.number = request.number;
  }
  reply.log_end = log_.end();
  reply.log_start = log_.known_start();
  // What a leader lost of its beginning no follower gives up with it.
  const auto before_start = [&] {
    return refuse(request.offset < reply.log_start ? ReplicaError::offset_out_of_range
                                                   : ReplicaError::corrupt_message);
  };
  reply.high_watermark = memory_.high_watermark;
  if (request.last_epoch != kNoLeaderEpoch) {
    reply.end = log_.epochs().end_offset_for(request.last_epoch, log_.end());
    if (request.asks_end_of_epoch) {
      reply.has_end = true;
      return reply;
    }
    if (reply.end.epoch == kNoLeaderEpoch) return refuse(ReplicaError::offset_out_of_range);
    if (request.offset < log_.start()) return before_start();
    if (reply.end.epoch < request.last_epoch || reply.end.offset < request.offset) {
      reply.has_end = reply.diverging = true;
      return reply;
    }
  }
  if (request.offset > log_.end()) return refuse(ReplicaError::offset_out_of_range);
  if (request.offset < log_.start()) return before_start();
  note_fetch(request);
  maybe_expand_isr(request);
  advance_high_watermark();
  reply.high_watermark = memory_.high_watermark;
  try {
    log_.read(request.offset, request.max_records, 1U << 20, reply.units);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::corrupt_message) throw;
    log_.read_sound(log_.end(), request.offset, request.max_records, 1U << 20, reply.units);
    if (reply.units.units.empty()) return refuse(ReplicaError::corrupt_message);
  }
  return reply;
}

FetchReply PartitionReplica::handle_damaged(const FetchRequest& request, Offset end) {
  FetchReply reply;
  reply.request = request;
  reply.error = ReplicaError::corrupt_message;
  const bool valid = leads() && request.leader_epoch == memory_.leader_epoch &&
                     request.broker_epoch >= host_.broker_epoch(request.follower) &&
                     host_.settings(*this).truncation == Truncation::fetch;
  if (!valid || request.offset < log_.start()) return reply;
  // Only a log that is a beginning of this one is made longer.
  if (request.last_epoch == kNoLeaderEpoch) {
    if (request.offset != log_.start()) return reply;
  } else {
    const LeaderEpochs epochs = log_.epochs_on_disk();
    const LeaderEpochs::End common = epochs.end_offset_for(request.last_epoch, end);
    if (common.epoch != request.last_epoch || common.offset < request.offset) return reply;
  }
  log_.read_sound(end, request.offset, request.max_records, 1U << 20, reply.units);
  if (reply.units.units.empty()) return reply;
  reply.error = ReplicaError::none;
  reply.high_watermark = memory_.high_watermark;
  reply.log_end = end;
  return reply;
}

void PartitionReplica::note_fetch(const FetchRequest& request) {
  const std::int64_t now = host_.now();
  FollowerView& view = memory_.followers[request.follower];
  if (request.offset >= log_.end()) {
    view.caught_up_ms = std::max(view.caught_up_ms, now);
  } else if (view.leader_end >= Offset(0) && request.offset >= view.leader_end) {
    view.caught_up_ms = std::max(view.caught_up_ms, view.fetched_ms);
  }
  view.log_end = request.offset;
  view.leader_end = std::max(view.leader_end, log_.end());
  view.fetched_ms = now;
}

void PartitionReplica::maybe_expand_isr(const FetchRequest& request) {
  if (holds(memory_.isr, request.follower) || !host_.active(request.follower)) return;
  if (request.offset < memory_.high_watermark) return;
  const Truncation mode = host_.settings(*this).truncation;
  const bool past_epoch_start = mode == Truncation::kip320 || mode == Truncation::fetch;
  if (past_epoch_start && host_.rules().isr_epoch_start && request.offset < memory_.epoch_start) return;
  BrokerIds isr = memory_.isr;
  isr.push_back(request.follower);
  host_.propose_isr(*this, isr);
}

void PartitionReplica::check_isr() {
  if (!leads()) return;
  BrokerIds stay;
  for (const BrokerId id : memory_.isr) {
    const auto view = memory_.followers.find(id);
    const bool lags = id != broker_ && view != memory_.followers.end() &&
                      view->second.log_end != log_.end() &&
                      host_.now() - view->second.caught_up_ms > host_.settings(*this).lag_ms;
    if (!lags) stay.push_back(id);
  }
  if (stay.size() < memory_.isr.size()) host_.propose_isr(*this, stay);
  advance_high_watermark();
}

}  // namespace tk
