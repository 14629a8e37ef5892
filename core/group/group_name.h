// Group ids and the files that belong to them (groups.md §13).
#pragma once

#include <string>
#include <string_view>

namespace tk {

/// Throws Error(invalid_group_id) for an empty id, one that is not UTF-8, and one of more than 4096 bytes.
void check_group_id(std::string_view group);

/// The part of the file names that stands for a group: bytes outside [A-Za-z0-9._-] as %XX; where that is
/// longer than 180 bytes, its first 150, `~` and 16 hex digits of the id's FNV-1a hash.
std::string group_key(std::string_view group);
/// The id that a key stands for; of a cut one the key itself, as the id is only in the file.
std::string group_of_key(std::string_view key);

/// The key in the name "group-<key>.json"; empty if it is none of these.
std::string key_of_file_name(std::string_view name);

/// Names in the data directory: the state, what its writers lock, its history.
std::string group_state_name(std::string_view key);
std::string group_lock_name(std::string_view key);
std::string group_events_name(std::string_view key);

/// Kafka's partition of __consumer_offsets for a group, of as many as there are (groups.md §7.8).
int offsets_partition_of(std::string_view group, int partitions = 50);

}  // namespace tk
