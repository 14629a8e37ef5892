#include "core/catalog/nearest_topic.h"

#include "core/base/text.h"
#include "core/catalog/topic_name.h"

namespace tk {

std::optional<std::string> nearest_topic(std::string_view name, const std::vector<std::string>& topics) {
  if (auto nearest = nearest_name(name, topics)) return nearest;
  const auto partition = parse_partition_directory(name);
  if (!partition) return std::nullopt;
  const auto nearest = nearest_name(partition->topic, topics);
  if (!nearest) return std::nullopt;
  return partition_directory_name(*nearest, partition->partition);
}

}  // namespace tk
