#include "core/group/position.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace tk {
namespace {

using Reason = Position::Reason;

class Positioner {
 public:
  Positioner(const PositionQuestion& question, const GroupTopics& topics, const LogEdges& edges)
      : question_(question), topics_(topics), edges_(edges) {}

  Position from_commit(const CommittedOffset& committed) const;
  [[nodiscard]] Position reset(Reason reason, const std::string& why, ErrorCode code) const;

 private:
  [[nodiscard]] std::optional<Position> by_epoch(const CommittedOffset& committed) const;
  [[nodiscard]] Offset latest() const {
    return question_.read_committed ? topics_.last_stable(question_.partition) : edges_.high_watermark;
  }
  [[nodiscard]] std::string label() const {
    return fmt::format("{}-{}", printable(question_.partition.topic, 300),
                       question_.partition.partition.value());
  }

  const PositionQuestion& question_;
  const GroupTopics& topics_;
  const LogEdges& edges_;
};

Position Positioner::reset(Reason reason, const std::string& why, ErrorCode code) const {
  using Kind = ResetPolicy::Kind;
  switch (question_.policy.kind) {
    case Kind::earliest:
      return {edges_.log_start, reason, {}, 0};
    case Kind::latest:
      return {latest(), reason, {}, 0};
    case Kind::by_duration: {
      const auto found =
          topics_.offset_for_time(question_.partition, question_.now_ms - question_.policy.duration_ms);
      return {found.value_or(latest()), reason, {}, 0};
    }
    case Kind::none:
      break;
  }
  throw Error(code, fmt::format("{}: {}", label(), why))
      .hint("say where to begin: --reset earliest or latest, or 'tk groups reset-offsets'");
}

// KIP-320: what was read last was written under an epoch; if that ended before the commit, the log has lost
// it.
std::optional<Position> Positioner::by_epoch(const CommittedOffset& committed) const {
  if (committed.leader_epoch < 0) return std::nullopt;
  const LeaderEpochs epochs = topics_.leader_epochs(question_.partition);
  if (epochs.empty()) return std::nullopt;
  const auto end = epochs.end_offset_for(LeaderEpoch(committed.leader_epoch), edges_.log_end);
  if (end.offset.value() < 0) {
    return reset(Reason::no_epoch,
                 fmt::format("the log knows nothing of epoch {}, in which {} was committed",
                             committed.leader_epoch, committed.offset),
                 ErrorCode::log_truncation);
  }
  if (end.offset.value() >= committed.offset) return std::nullopt;
  if (question_.policy.kind == ResetPolicy::Kind::none) {
    throw Error(ErrorCode::log_truncation,
                fmt::format("{}: {} was committed in epoch {}, which ends at {} here: the log was truncated",
                            label(), committed.offset, committed.leader_epoch, end.offset.value()))
        .hint(fmt::format("{} is the safe offset to go on from", end.offset.value()));
  }
  return Position{end.offset, Reason::truncated, end.epoch, committed.offset - end.offset.value()};
}

Position Positioner::from_commit(const CommittedOffset& committed) const {
  if (const auto position = by_epoch(committed)) return *position;
  const Offset offset(committed.offset);
  if (offset >= edges_.log_start && offset <= edges_.log_end) return {offset, Reason::committed, {}, 0};
  return reset(Reason::out_of_range,
               fmt::format("{} is committed, and the log goes from {} to {}", committed.offset,
                           edges_.log_start.value(), edges_.log_end.value()),
               ErrorCode::offset_out_of_range);
}

}  // namespace

Position position_of(const PositionQuestion& question, const CommittedOffset* committed,
                     const GroupTopics& topics) {
  const auto edges = topics.edges(question.partition);
  if (!edges) {
    throw Error(ErrorCode::unknown_topic_or_partition,
                fmt::format("there is no partition {} of '{}'", question.partition.partition.value(),
                            printable(question.partition.topic, 300)));
  }
  const Positioner positioner(question, topics, *edges);
  if (committed != nullptr) return positioner.from_commit(*committed);
  return positioner.reset(Reason::no_commit, "nothing is committed", ErrorCode::no_offset_for_partition);
}

}  // namespace tk
