// meta.properties (kafka-on-disk.md §1.2), which says whose log directory this is. It is only read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/uuid.h"
#include "core/format/text_file.h"

namespace tk {

struct MetaProperties {
  /// 0: ZooKeeper's era, 1: KRaft.
  std::int32_t version = 0;
  std::optional<std::string> cluster_id;
  /// `node.id`, in version 0 `broker.id`.
  std::optional<std::int32_t> node_id;
  std::optional<Uuid> directory_id;
  std::optional<TextFault> fault;
};

/// Takes everything that Java's property files may have (comments, the three separators, escapes, continued
/// lines) and ignores keys it does not know; the last of several equal keys counts. A missing version is 0,
/// and one above 1 a fault, as are numbers and ids that are none and, in version 1, a missing node or cluster
/// id.
MetaProperties parse_meta_properties(std::string_view text);

}  // namespace tk
