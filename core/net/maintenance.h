// Logs age while they are served: retention and compaction by the topics' own configs, now and then
// (serve.md §2.3).
#pragma once

#include "core/net/service.h"

namespace tk::net {

class Maintenance {
 public:
  explicit Maintenance(Service& service) : service_(service) {}
  /// Runs every --maintain-ms from now on (0: never).
  void start();

 private:
  void run();

  Service& service_;
};

}  // namespace tk::net
