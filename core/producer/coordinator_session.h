// The coordinator's file while it is locked. Internal to core/producer.
#pragma once

#include <memory>

#include "core/producer/coordinator.h"

namespace tk {

struct Coordinator::Session {
  std::unique_ptr<LockFile> lock;
  ProducersFile file;
};

}  // namespace tk
