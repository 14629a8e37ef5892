// Waiting for changes in directories (inotify), for readers that follow a log.
#pragma once

#include <cstdint>
#include <string>

#include "core/io/descriptor.h"

namespace tk {

class DirectoryWatch {
 public:
  DirectoryWatch();
  /// Watches what happens to the files in `directory`; one that cannot be watched is left to the slow poll.
  void add(const std::string& directory);

  enum class Event : std::uint8_t {
    none,     // the time is up, or a signal came
    written,  // files were written
    made,     // at least one file was made or renamed
  };
  /// Waits for up to `timeout_ms` (negative: a second at a time, since a watch cannot be relied on
  /// everywhere).
  Event wait(std::int64_t timeout_ms);

 private:
  Descriptor descriptor_;
};

}  // namespace tk
