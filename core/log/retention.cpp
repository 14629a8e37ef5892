#include "core/log/retention.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/log/offset_search.h"
#include "core/log/segment_lookup.h"

namespace tk {
namespace {

class Planner {
 public:
  Planner(FileSystem& fs, const LogView& view, const RetentionRules& rules)
      : fs_(fs), view_(view), rules_(rules) {
    const auto& segments = view.files.segments;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      SegmentVerdict& verdict = plan_.segments.emplace_back();
      verdict.segment = segments[i];
      verdict.next_offset = i + 1 < segments.size() ? segments[i + 1].base : view.log_end;
      const std::int64_t largest = largest_timestamp(fs, segments[i]);
      if (largest >= 0) verdict.max_timestamp = largest;
    }
  }

  RetentionPlan plan() {
    while (may_go(next_) && !is_last(next_) && plan_.segments[next_].next_offset <= view_.log_start)
      take(fmt::format("below the log start offset {}", view_.log_start.value()));
    if (rules_.deletes) {
      by_size();
      by_time();
    }
    say_why_the_rest_stays();
    plan_.log_start = view_.log_start;
    if (next_ > 0) plan_.log_start = std::max(view_.log_start, plan_.segments[next_ - 1].next_offset);
    return std::move(plan_);
  }

 private:
  [[nodiscard]] bool is_last(std::size_t i) const { return i + 1 == plan_.segments.size(); }

  [[nodiscard]] bool may_go(std::size_t i) const {
    if (i >= plan_.segments.size()) return false;
    const SegmentVerdict& verdict = plan_.segments[i];
    return verdict.next_offset <= rules_.high_watermark && !(is_last(i) && verdict.segment.size == 0);
  }

  void take(std::string reason) {
    plan_.segments[next_].goes = true;
    plan_.segments[next_].reason = std::move(reason);
    ++next_;
  }

  // The oldest go as long as what is left still holds retention.bytes: the log stays above it by up to a
  // segment.
  void by_size() {
    if (rules_.retention_bytes < 0) return;
    std::int64_t total = 0;
    for (std::size_t i = next_; i < plan_.segments.size(); ++i)
      total += static_cast<std::int64_t>(plan_.segments[i].segment.size);
    while (may_go(next_)) {
      const auto size = static_cast<std::int64_t>(plan_.segments[next_].segment.size);
      if (total - size < rules_.retention_bytes) break;
      take(fmt::format("{} bytes are {} over retention.bytes={}", total, total - rules_.retention_bytes,
                       rules_.retention_bytes));
      total -= size;
    }
    left_bytes_ = total;
  }

  void by_time() {
    if (rules_.retention_ms < 0) return;
    while (may_go(next_)) {
      const std::int64_t age = rules_.now_ms - timestamp_of(plan_.segments[next_]);
      if (age <= rules_.retention_ms) break;
      take(fmt::format("its {} is {} ms old, over retention.ms={}", timestamp_word(plan_.segments[next_]),
                       age, rules_.retention_ms));
    }
  }

  // A segment without timestamps is as old as its file (§10).
  static std::int64_t timestamp_of(const SegmentVerdict& verdict) {
    return verdict.max_timestamp.value_or(verdict.segment.mtime_ms);
  }
  static const char* timestamp_word(const SegmentVerdict& verdict) {
    return verdict.max_timestamp ? "newest record" : "file, as no record has a timestamp,";
  }

  void say_why_the_rest_stays() {
    for (std::size_t i = next_; i < plan_.segments.size(); ++i) {
      SegmentVerdict& verdict = plan_.segments[i];
      verdict.reason = i == next_ ? why_it_stays(i)
                                  : fmt::format("segments go oldest first, and {} stays",
                                                plan_.segments[next_].segment.base.value());
    }
  }

  [[nodiscard]] std::string why_it_stays(std::size_t i) const {
    const SegmentVerdict& verdict = plan_.segments[i];
    if (is_last(i) && verdict.segment.size == 0) return "it is empty, and holds the log end";
    if (verdict.next_offset > rules_.high_watermark)
      return fmt::format("it reaches above the high watermark {}", rules_.high_watermark.value());
    if (!rules_.deletes) return "cleanup.policy does not delete";
    std::string reason;
    if (rules_.retention_ms >= 0) reason = why_young(verdict);
    if (rules_.retention_bytes >= 0) {
      if (!reason.empty()) reason += "; ";
      reason +=
          fmt::format("without it {} bytes would be left, less than retention.bytes={}",
                      left_bytes_ - static_cast<std::int64_t>(verdict.segment.size), rules_.retention_bytes);
    }
    return reason.empty() ? "neither retention.ms nor retention.bytes is set" : reason;
  }

  [[nodiscard]] std::string why_young(const SegmentVerdict& verdict) const {
    const std::int64_t timestamp = timestamp_of(verdict);
    std::string record = timestamp_word(verdict);
    if (verdict.max_timestamp && timestamp > rules_.now_ms) {
      LogView segment;
      segment.files.directory = view_.files.directory;
      segment.files.segments = {verdict.segment};
      segment.log_start = verdict.segment.base;
      segment.log_end = verdict.next_offset;
      segment.last_segment_end = verdict.segment.size;
      if (const auto offset = offset_for_time(fs_, segment, timestamp))
        record = fmt::format("record at offset {} lies in the future: it", offset->value());
    }
    return fmt::format(
        "its {} is of {} and stays until {}", record, timestamp,
        timestamp > INT64_MAX - rules_.retention_ms ? INT64_MAX : timestamp + rules_.retention_ms);
  }

  FileSystem& fs_;
  const LogView& view_;
  const RetentionRules& rules_;
  RetentionPlan plan_;
  std::size_t next_ = 0;  // everything before it goes
  std::int64_t left_bytes_ = 0;
};

}  // namespace

std::size_t RetentionPlan::going() const {
  return static_cast<std::size_t>(std::ranges::count_if(segments, &SegmentVerdict::goes));
}

RetentionPlan plan_retention(FileSystem& fs, const LogView& view, const RetentionRules& rules) {
  return Planner(fs, view, rules).plan();
}

}  // namespace tk
