// What other processes do in directories, by inotify, told by the loop. Where the system has no watches left
// a directory is looked at by the clock.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "core/io/descriptor.h"
#include "core/net/loop.h"

namespace tk::net {

class DirectoryEvents {
 public:
  struct Event {
    /// The file's name; empty: something may have happened that was not seen.
    std::string name;
    /// It came, went, or was replaced; else it was written.
    bool listed = false;
  };
  using Handler = std::function<void(const Event&)>;

  explicit DirectoryEvents(Loop& loop);
  /// False if it cannot be watched.
  bool add(const std::string& directory, Handler handler);
  void remove(const std::string& directory);

 private:
  void wait();
  void read();

  Descriptor descriptor_;
  Loop::Watch watch_;
  std::unordered_map<int, Handler> handlers_;
  std::unordered_map<std::string, int> numbers_;
};

}  // namespace tk::net
