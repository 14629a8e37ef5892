// A partition that a member of a group reads, for `tk consume -g`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "commands/consume_plan.h"
#include "core/log/partition_cursor.h"
#include "core/log/partition_follower.h"
#include "core/store/store.h"

namespace tk {

class GroupReader {
 public:
  /// `number` tells it from one that the partition had before.
  GroupReader(std::uint64_t number, std::unique_ptr<PartitionPlan> plan,
              std::optional<std::int64_t> committed)
      : number_(number), plan_(std::move(plan)), progress_(plan_->scope.from), committed_(committed) {}

  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] PartitionPlan& plan() { return *plan_; }
  /// The next offset to read: what the output has taken lies below.
  [[nodiscard]] Offset progress() const { return progress_; }
  [[nodiscard]] bool uncommitted() const { return committed_ != progress_.value(); }
  [[nodiscard]] std::optional<std::int64_t> committed() const { return committed_; }
  void advance(Offset to) { progress_ = std::max(progress_, to); }
  void note_committed() { committed_ = progress_.value(); }

  /// The next piece of the log; false at its end, as it is known.
  bool next(FileSystem& fs, CursorChunk& chunk) {
    if (progress_ >= plan_->scope.below || (at_end_ && !follower_)) return false;
    if (follower_) return follower_->next(chunk, true);
    if (!cursor_) cursor_ = std::make_unique<PartitionCursor>(fs, plan_->view, progress_);
    if (cursor_->next(chunk)) return true;
    at_end_ = true;
    if (!asks_again()) {
      follower_ = std::make_unique<PartitionFollower>(fs, plan_->view, cursor_->position(),
                                                      std::max(cursor_->last_offset(), progress_ - 1));
    }
    cursor_.reset();
    return false;
  }
  /// Behind the piece that next() gave.
  [[nodiscard]] Offset behind() const {
    const Offset last = follower_ ? follower_->last_offset() : cursor_->last_offset();
    return std::min(last + 1, std::max(plan_->scope.below, progress_));
  }
  /// Takes the log as it is now, where that has to be asked for. In a cluster another broker may lead by now;
  /// while nobody does there is nothing to read.
  void look_again(const Store& store, const ConsumeOptions& options, Context& context) {
    if (follower_) return;
    if (plan_->partition.in_cluster) {
      const TopicInfo* topic = store.find(plan_->partition.topic);
      if (topic == nullptr) return;  // deleted; the group will notice
      for (const PartitionInfo& partition : topic->partitions)
        if (partition.partition == plan_->partition.partition) plan_->partition = partition;
      if (!plan_->partition.high_watermark) return;
    }
    tk::look_again(store, options, context, *plan_);
    cursor_.reset();
    at_end_ = false;
  }

 private:
  // What may be read ends before the log does: at a transaction that is open, at a cluster's high watermark.
  // What lies behind is read from where it begins, when it may be.
  [[nodiscard]] bool asks_again() const {
    return plan_->scope.committed != nullptr || plan_->partition.in_cluster;
  }

  std::uint64_t number_;
  std::unique_ptr<PartitionPlan> plan_;
  std::unique_ptr<PartitionCursor> cursor_;
  std::unique_ptr<PartitionFollower> follower_;  // behind the end that the cursor came to
  bool at_end_ = false;
  Offset progress_;
  std::optional<std::int64_t> committed_;
};

}  // namespace tk
