// The running server: listeners, connections, what happens in the directory, and the end.
#pragma once

#include <atomic>
#include <memory>

#include "core/net/service.h"

namespace tk::net {

struct ServerEnd {
  /// "signal" or "idle".
  std::string reason;
  std::uint64_t requests = 0;
  std::uint64_t records_in = 0;
  std::uint64_t records_out = 0;
};

/// Serves until a signal (`interrupted` is not 0) or, with idle_exit_ms, until nobody has come for so long.
/// Throws what Service throws, and storage_error if a port cannot be listened on.
ServerEnd run_server(FileSystem& fs, const Clock& clock, ServerOptions options, ServerEvents& events,
                     const std::atomic<int>& interrupted);

}  // namespace tk::net
