// The part of `tk verify` that concerns a data directory as a whole: the files that several partitions share,
// and what does not belong there.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/base/uuid.h"
#include "core/io/file_system.h"
#include "core/log/problem.h"
#include "core/log/verify_order.h"

namespace tk {

/// What a data directory's own files say of its partitions, by the names of their directories.
struct DirectoryFacts {
  bool is_broker = false;
  std::map<std::string, Offset> log_starts;
  std::map<std::string, Offset> high_watermarks;
  std::map<std::string, Offset> recovery_points;
  /// First dirty offsets of those that the cleaner has been through.
  std::map<std::string, Offset> first_dirty;
  /// Of meta.properties; nothing where it says none.
  bool kraft = false;
  std::optional<std::string> cluster_id;
  std::optional<std::int32_t> node_id;
  std::optional<Uuid> directory_id;

  /// What is known of one partition.
  [[nodiscard]] VerifyScope scope_of(const std::string& partition_directory, bool quick) const;
};

/// Reads them and reports what is wrong with them, foreign entries and directories that are set aside. A
/// directory that cannot be listed is a storage_error.
DirectoryFacts check_log_directory(FileSystem& fs, const std::string& directory, ProblemCounter& report);

/// Only reads them; what cannot be read says nothing.
DirectoryFacts read_log_directory(FileSystem& fs, const std::string& directory);

}  // namespace tk
