// Options of `tk serve` (serve.md §4): what the server is told, and what is still text or the command's own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/net/options.h"

namespace tk {

struct ServeOptions {
  /// HOST:PORT, :PORT, PORT or HOST.
  std::vector<std::string> kafka;
  std::vector<std::string> http;
  std::optional<std::string> advertise;
  std::optional<std::string> port_file;
  /// All but its directory and addresses, and the wait for locks, which all commands have.
  net::ServerOptions server;
};

}  // namespace tk
