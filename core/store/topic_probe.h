// What a partition directory itself says of its topic: the format of its records, and the topic's id.
#pragma once

#include <optional>
#include <string>

#include "core/base/uuid.h"
#include "core/format/topic_format.h"
#include "core/io/file_system.h"

namespace tk {

/// The format of the first unit that can be read; nothing if there is none, or no directory.
std::optional<TopicFormat> probe_format(FileSystem& fs, const std::string& directory);

/// The id in partition.metadata; nothing if that is missing or damaged.
std::optional<Uuid> probe_topic_id(FileSystem& fs, const std::string& directory);

}  // namespace tk
