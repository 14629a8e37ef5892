// What work for a client may throw, as one kind of value: nothing that a client sends may end the process.
#pragma once

#include <memory>

#include "core/base/error.h"

namespace tk::net {

/// Runs `work`; what it throws, or null. What is no Error (memory that is not there, a mistake of ours)
/// becomes one.
template <class Work>
std::shared_ptr<Error> failure_of(Work&& work) {
  try {
    work();
    return nullptr;
  } catch (const Error& error) {
    return std::make_shared<Error>(error);
  } catch (const std::exception& error) {
    return std::make_shared<Error>(ErrorCode::unknown_server_error, error.what());
  }
}

}  // namespace tk::net
