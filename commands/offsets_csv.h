// Offsets as lines "topic,partition,offset", as Kafka's own tool writes and reads them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/group/topic_partition.h"

namespace tk {

/// With a line feed. A topic with a comma or a quote stands in quotes.
std::string csv_line(const TopicPartition& partition, std::int64_t offset);

struct OffsetsFile {
  std::map<TopicPartition, std::int64_t> offsets;
  /// Of lines "group,topic,partition,offset": the groups that were not asked for.
  std::set<std::string> other_groups;
};

/// Reads lines of three fields, or of four of which the first is a group; blank lines count for nothing.
/// Throws invalid_request with the line's number; `path` is for the message.
OffsetsFile parse_offsets_csv(std::string_view text, const std::string& group, const std::string& path);

}  // namespace tk
