// The writer of a partition: appends of many connections in one turn, one force for all that wait for it.
#include <algorithm>
#include <chrono>

#include "core/net/failure.h"
#include "core/net/kafka/errors.h"
#include "core/net/partition.h"

namespace tk::net {
namespace {

std::int64_t monotonic_us() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

Partition::Partition(PartitionHost& host, const PartitionInfo& info, TopicFormat format, Uuid topic_id)
    : host_(host), info_(info), topic_id_(topic_id), format_(format), queue_(host.writers) {}

void Partition::configs_changed() {
  writer_stale_.store(true);
}

void Partition::append(Append append) {
  if (append.deadline_ms == INT64_MAX) append.deadline_ms = monotonic_ms() + host_.lock_timeout_ms;
  {
    const std::lock_guard lock(append_mutex_);
    appends_.push_back(std::move(append));
    append_came_.notify_one();
    if (draining_) return;
    draining_ = true;
  }
  queue_.post([self = shared_from_this()] { self->drain(); });
}

void Partition::answer(Append& append, AppendResult result) {
  host_.loop.post([done = std::move(append.done), result = std::move(result)]() mutable { done(result); });
}

// The loop is woken once for all of them. One that cannot be answered keeps nothing from the others.
void Partition::answer_all(Answers done) {
  const auto all = std::make_shared<Answers>(std::move(done));
  host_.loop.post([self = shared_from_this(), all] {
    for (auto& one : *all) {
      const auto error = failure_of([&] { one.first.done(one.second); });
      if (error) self->host_.warn(&self->info_, *error);
    }
  });
}

void Partition::refuse(std::vector<Append>& batch, const Error& error) {
  for (Append& append : batch) {
    AppendResult result;
    result.error = kafka::append_error_of(error);
    result.message = error.message();
    answer(append, std::move(result));
  }
  batch.clear();
}

// Waits for those that the next force shall cover, too (ForceGroup).
void Partition::gather() {
  if (!host_.forces) return;
  std::unique_lock lock(append_mutex_);
  if (std::ranges::none_of(appends_, &Append::forced)) return;
  for (;;) {
    const std::int64_t patience = force_group_.patience_us(appends_.size(), monotonic_us());
    if (patience == 0) return;
    append_came_.wait_for(lock, std::chrono::microseconds(patience));
  }
}

// Appends come as long as there are some; then the turn is given up.
void Partition::drain() {
  if (!is_open()) open_in_queue();
  for (;;) {
    gather();
    std::vector<Append> batch;
    {
      const std::lock_guard lock(append_mutex_);
      if (appends_.empty()) {
        draining_ = false;
        break;
      }
      batch.swap(appends_);
    }
    if (!drain_round(batch)) return try_later(batch);
  }
  if (log_) log_->pause();
}

// A worker waits a moment only, as others need it, too; then the batch goes to the front again.
void Partition::try_later(std::vector<Append>& batch) {
  {
    const std::lock_guard lock(append_mutex_);
    batch.insert(batch.end(), std::make_move_iterator(appends_.begin()),
                 std::make_move_iterator(appends_.end()));
    appends_ = std::move(batch);
  }
  host_.loop.post([self = shared_from_this()] {
    self->host_.loop.after(1, [self] { self->queue_.post([self] { self->drain(); }); });
  });
}

void Partition::refuse_late(std::vector<Append>& batch) {
  const std::int64_t now = monotonic_ms();
  for (Append& append : batch) {
    if (now <= append.deadline_ms) continue;
    AppendResult late;
    late.error = kafka::kRequestTimedOut;
    late.message = "the partition was busy for longer than the request allows";
    answer(append, std::move(late));
    append.done = nullptr;
  }
  std::erase_if(batch, [](const Append& append) { return !append.done; });
}

Partition::Turn Partition::begin_turn(std::vector<Append>& batch) {
  constexpr std::int64_t wait_ms = 50;
  refuse_late(batch);
  if (batch.empty()) return Turn::refused;
  if (deleted_) {
    refuse(batch, Error(ErrorCode::unknown_topic_or_partition, "the topic was deleted"));
    return Turn::refused;
  }
  const auto error = failure_of([&] {
    if (const auto failed = open_error(); failed && !is_open()) throw *failed;
    if (log_ && !log_->has_turn() && writer_stale_.exchange(false)) log_.reset();
    if (!log_) log_ = host_.open_log(info_);
    if (log_->has_turn()) {
      if (monotonic_ms() - turn_since_ms_ < 1000 || !log_->wanted_by_other()) return;
      log_->pause();
    }
    log_->begin(wait_ms);
    turn_since_ms_ = monotonic_ms();
    publish();  // what others wrote, and what opening put right
  });
  if (!error) return Turn::ours;
  if (error->code() == ErrorCode::log_dir_locked) return Turn::later;
  host_.warn(&info_, *error);
  log_.reset();
  refuse(batch, *error);
  return Turn::refused;
}

AppendResult Partition::append_one(Append& append) {
  const std::uint64_t before = log_->active_size();
  const Offset segment = log_->active_base();
  const Offset end = log_->log_end();
  AppendResult result = append.work(*log_);
  if (result.error != 0 || log_->log_end() == end) return result;
  unforced_ = true;
  if (log_->active_base() == segment && result.info) {
    {
      const std::lock_guard lock(mutex_);
      if (!segments_.empty() && segments_.back().file.base == segment &&
          segments_.back().file.size == before) {
        remember(end, {segment, before, shape_});
        take_in(result.unit, *result.info);
        segments_.back().file.size = log_->active_size();
        end_ = log_->log_end();
      }
    }
    changed();
  }
  publish();
  return result;
}

// One force for all that wait for it.
void Partition::force_and_answer(Answers waiting, const std::optional<Error>& failed) {
  const std::int64_t begin = monotonic_us();
  const auto error = failure_of([&] {
    if (failed) throw *failed;
    log_->sync();
    unforced_ = false;
  });
  const std::int64_t took = monotonic_us() - begin;
  if (error) {
    if (!failed) host_.warn(&info_, *error);
    // What the system could not write it may have dropped: nothing more is promised of it.
    log_.reset();
    for (auto& [append, result] : waiting) {
      result = {};
      result.error = kafka::append_error_of(*error);
      result.message = error->message();
    }
  } else {
    const std::lock_guard lock(append_mutex_);
    force_group_.ended(waiting.size(), appends_.size(), took, begin + took);
  }
  const std::size_t count = waiting.size();
  answer_all(std::move(waiting));
  // Behind the answers, as it wakes the loop, too.
  if (!error) host_.synced(static_cast<double>(took) / 1e6, count);
}

bool Partition::drain_round(std::vector<Append>& batch) {
  const Turn turn = begin_turn(batch);
  if (turn != Turn::ours) return turn != Turn::later;
  Answers waiting;
  std::optional<Error> failed;
  for (Append& append : batch) {
    AppendResult result;
    const auto error = failure_of([&] {
      if (failed) throw *failed;
      result = append_one(append);
    });
    if (error) {
      result = {};
      result.error = kafka::append_error_of(*error);
      result.message = error->message();
      const bool unknown = error->code() == ErrorCode::unknown_server_error;
      if ((error->code() == ErrorCode::storage_error || unknown) && !failed) {
        if (!unknown) failed = *error;
        host_.warn(&info_, *error);
        after_failure();
      }
    }
    // A log that could not be settled takes nothing more in this round.
    if (!log_ && !failed) failed = Error(ErrorCode::storage_error, "the log was not settled after a failure");
    if (append.forced && host_.forces && result.error == 0) {
      waiting.emplace_back(std::move(append), std::move(result));
    } else {
      answer(append, std::move(result));
    }
  }
  if (!waiting.empty()) force_and_answer(std::move(waiting), failed);
  if (unforced_) flush_later();
  return true;
}

// What reached the file whole is taken in, what is torn is cut; if that fails, too, the next append opens
// anew.
void Partition::after_failure() {
  if (!log_) return;
  if (failure_of([&] {
        log_->settle();
        publish();
      }))
    log_.reset();
}

// Shows readers what the writer has: the end, and the size of its segment.
void Partition::publish() {
  bool listed = false;
  {
    const std::lock_guard lock(mutex_);
    listed = segments_.empty() || segments_.back().file.base != log_->active_base() ||
             segments_.back().file.size > log_->active_size();
    if (!listed && segments_.back().file.size == log_->active_size()) return;
  }
  // Other writers' units, and those of a new segment, are looked at on the disk.
  look_again(listed);
}

void Partition::flush_later() {
  if (!host_.forces || flush_pending_.exchange(true)) return;
  host_.loop.post([self = shared_from_this()] {
    self->host_.loop.after(self->host_.flush_ms, [self] {
      self->queue_.post([self] {
        self->flush_pending_.store(false);
        self->flush();
      });
    });
  });
}

// Forces what acks=1 left. Whoever has the turn meanwhile forces the file at the end of it, too: then it is
// looked at again later.
void Partition::flush() {
  if (!unforced_ || !log_ || deleted_) return;
  const auto error = failure_of([&] {
    log_->begin(50);
    log_->sync();
    unforced_ = false;
    log_->pause();
  });
  if (!error) return;
  if (error->code() == ErrorCode::log_dir_locked) return flush_later();
  host_.warn(&info_, *error);
  log_.reset();
}

void Partition::close_writer() {
  if (!log_) return;
  const auto error = failure_of([&] {
    log_->begin(500);
    log_->close();
  });
  if (error && !deleted_) host_.warn(&info_, *error);
  log_.reset();
}

}  // namespace tk::net
