// tk-topics.json, topic configs and names. A file is read or refused by an Error of its kinds; what was read
// is written to a text that reads the same, and a setting that was taken is taken as it was stored.
#include "core/base/error.h"
#include "core/catalog/topic_config.h"
#include "core/catalog/topic_name.h"
#include "core/catalog/topics_file.h"
#include "tests/fuzz/fuzz.h"

namespace tk::fuzz {
namespace {

void check_file(std::string_view text) {
  TopicsFile file;
  try {
    file = parse_topics_file(text, "tk-topics.json");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::corrupt_state || error.code() == ErrorCode::unsupported_version,
            "a file is refused as damaged or too new");
    return;
  }
  const std::string printed = format_topics_file(file);
  TopicsFile again = parse_topics_file(printed, "tk-topics.json");
  require(format_topics_file(again) == printed, "a file reads the same after printing it");
  require(again.topics.size() == file.topics.size(), "no topic is lost");
  for (const auto& [name, entry] : file.topics) {
    const auto at = again.topics.find(name);
    require(at != again.topics.end(), "every topic keeps its name");
    require(at->second.id == entry.id && at->second.partitions == entry.partitions &&
                at->second.format == entry.format && at->second.configs == entry.configs &&
                at->second.adopted == entry.adopted && at->second.others == entry.others,
            "every topic is the same");
    (void)log_config(entry.configs);
    (void)topic_compression(entry.configs);
  }
}

/// KEY=VALUE, or any name for a directory.
void check_line(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos) {
    const std::string_view key = text.substr(0, equals);
    try {
      const std::string stored = check_config(key, text.substr(equals + 1));
      require(check_config(key, stored) == stored, "a stored setting is stored as it is");
      (void)log_config({{std::string(key), stored}});
      (void)topic_compression({{std::string(key), stored}});
    } catch (const Error& error) {
      require(error.code() == ErrorCode::invalid_config, "a setting is refused as such");
    }
  }
  if (const auto name = parse_partition_directory(text)) {
    if (name->state == PartitionState::live) {
      require(partition_directory_name(name->topic, name->partition) == text, "one directory a partition");
    }
  }
  if (topic_name_fault(text) == nullptr) {
    const auto name = parse_partition_directory(partition_directory_name(text, PartitionId(7)));
    require(name && name->topic == text && name->partition == PartitionId(7), "a topic's directory is its");
    require(deletion_directory_name(text, PartitionId(7), Uuid{}).size() <= 255, "names fit a file system");
  }
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  tk::fuzz::check_file(text);
  tk::fuzz::check_line(text);
  return 0;
}
