// The two record formats that a topic can have (design.md §1).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tk {

enum class TopicFormat : std::uint8_t { json, kafka };

/// "json" or "kafka", as options, state files and reports have it.
constexpr std::string_view topic_format_name(TopicFormat format) {
  return format == TopicFormat::json ? "json" : "kafka";
}
constexpr std::optional<TopicFormat> parse_topic_format(std::string_view name) {
  if (name == "json") return TopicFormat::json;
  if (name == "kafka") return TopicFormat::kafka;
  return std::nullopt;
}

}  // namespace tk
