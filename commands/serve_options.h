// Options of `tk serve` (serve.md §4), as they were given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/format/topic_format.h"

namespace tk {

struct ServeOptions {
  /// HOST:PORT, :PORT, PORT or HOST.
  std::vector<std::string> kafka;
  std::vector<std::string> http;
  std::vector<std::string> topics;
  bool read_only = false;
  bool auto_create = true;
  std::int32_t partitions = 1;
  TopicFormat topic_format = TopicFormat::kafka;
  std::optional<std::string> advertise;
  std::int32_t node_id = 1;
  bool allow_remote = false;
  std::vector<std::string> cors;
  std::vector<std::string> http_hosts;
  bool sync = true;
  std::int64_t flush_ms = 1000;
  std::int64_t rebalance_delay_ms = 0;
  std::int64_t min_session_ms = 1;
  bool skip_damage = false;
  std::int64_t maintain_ms = 300000;
  std::int64_t max_connections = 10000;
  std::int64_t max_frame = 104857600;
  std::int64_t request_memory = 32 << 20;
  std::int64_t max_wait_ms = 60000;
  std::int64_t idle_connection_ms = 600000;
  std::int32_t workers = 2;
  std::int64_t drain_ms = 2000;
  std::optional<std::int64_t> idle_exit_ms;
  std::optional<std::string> port_file;
  bool verbose = false;
  bool log_requests = false;
  /// What `tk --version` says first.
  std::string version;
};

}  // namespace tk
