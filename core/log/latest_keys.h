// The last record of each key in a part of a log (cli.md §4 `--latest-per-key`).
#pragma once

#include "core/log/key_map.h"
#include "core/log/record_walk.h"

namespace tk {

/// Notes the last offset of each key within the scope. Damage is stepped over. Throws invalid_request when
/// the map has no room for all keys.
void find_latest_keys(FileSystem& fs, const LogView& view, const ReadScope& scope, KeyMap& keys);

}  // namespace tk
