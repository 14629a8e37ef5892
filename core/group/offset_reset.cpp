#include "core/group/offset_reset.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace tk {
namespace {

using Kind = ResetScenario::Kind;

std::string label(const TopicPartition& partition) {
  return fmt::format("{}-{}", printable(partition.topic, 300), partition.partition.value());
}

void clamp(ResetRow& row, const LogEdges& edges) {
  const std::int64_t wanted = row.to;
  row.to = std::clamp(wanted, edges.log_start.value(), edges.high_watermark.value());
  row.clamped = row.to != wanted;
  if (row.clamped) {
    row.note = fmt::format("{} is outside of the log, {} to {}", wanted, edges.log_start.value(),
                           edges.high_watermark.value());
  }
}

std::int64_t shifted(const ResetRow& row, std::int64_t by) {
  if (!row.from) {
    throw Error(ErrorCode::no_offset_for_partition,
                fmt::format("{}: nothing is committed that could be shifted", label(row.partition)))
        .hint("leave the partition out, or take another scenario");
  }
  std::int64_t sum = 0;
  if (__builtin_add_overflow(*row.from, by, &sum)) return by < 0 ? INT64_MIN : INT64_MAX;
  return sum;
}

void by_time(ResetRow& row, const GroupTopics& topics, const LogEdges& edges, std::int64_t timestamp_ms) {
  if (const auto found = topics.offset_for_time(row.partition, timestamp_ms)) {
    row.to = std::min(*found, edges.high_watermark).value();
    return;
  }
  row.to = edges.high_watermark.value();
  row.note = fmt::format("no record at or after {}: the end", format_time(timestamp_ms));
}

void fill(ResetRow& row, const GroupTopics& topics, const LogEdges& edges, const ResetScenario& scenario,
          std::int64_t now_ms) {
  switch (scenario.kind) {
    case Kind::to_earliest:
      row.to = edges.log_start.value();
      return;
    case Kind::to_latest:
      row.to = edges.high_watermark.value();
      return;
    case Kind::to_current:
      row.to = row.from.value_or(edges.high_watermark.value());
      return;
    case Kind::to_offset:
      row.to = scenario.value;
      return clamp(row, edges);
    case Kind::shift_by:
      row.to = shifted(row, scenario.value);
      return clamp(row, edges);
    case Kind::to_datetime:
      return by_time(row, topics, edges, scenario.value);
    case Kind::by_duration:
      return by_time(row, topics, edges, now_ms - scenario.value);
    case Kind::from_file:
      row.to = scenario.offsets.at(row.partition);
      return clamp(row, edges);
  }
}

}  // namespace

std::vector<ResetRow> plan_reset(const GroupState& group, const GroupTopics& topics,
                                 const ResetScenario& scenario, const std::vector<TopicPartition>& partitions,
                                 std::int64_t now_ms) {
  std::vector<ResetRow> rows;
  for (const TopicPartition& partition : partitions) {
    const auto edges = topics.edges(partition);
    if (!edges) {
      throw Error(ErrorCode::unknown_topic_or_partition,
                  fmt::format("there is no partition {} of topic '{}'", partition.partition.value(),
                              printable(partition.topic, 300)));
    }
    ResetRow row;
    row.partition = partition;
    if (const auto* committed = committed_offset(group, topics, partition)) row.from = committed->offset;
    fill(row, topics, *edges, scenario, now_ms);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tk
