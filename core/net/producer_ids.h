// Producer ids for idempotent producers: taken from tk-producers.json in blocks, one replacement of the file
// for each (serve.md §2.8).
#pragma once

#include <functional>

#include "core/net/service.h"

namespace tk::net {

class ProducerIds {
 public:
  explicit ProducerIds(Service& service) : service_(service) {}
  /// The next id, or why there is none; `done` by the loop.
  void next(std::function<void(std::int64_t id, const Error*)> done);

 private:
  static constexpr std::int64_t kBlock = 1000;

  Service& service_;
  std::int64_t next_ = 0;
  std::int64_t end_ = 0;
  bool asking_ = false;
  std::vector<std::function<void(std::int64_t, const Error*)>> waiting_;
};

}  // namespace tk::net
