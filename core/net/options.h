// What `tk serve` was asked for (serve.md §4), with the defaults of §1.4.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/format/topic_format.h"

namespace tk::net {

/// "127.0.0.1:9092"; port 0: any free one.
struct Address {
  std::string host;
  std::uint16_t port = 0;

  [[nodiscard]] std::string text() const {
    const bool six = host.find(':') != std::string::npos;
    return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
  }
  friend bool operator==(const Address&, const Address&) = default;
};

/// True for the text of an address of 127.0.0.0/8 or for ::1, never for a name: "127.example.com" may be
/// anywhere.
bool is_loopback(const std::string& host);

struct ServerOptions {
  std::string directory;
  std::vector<Address> kafka;
  std::vector<Address> http;
  /// Names or globs of the topics that are served; empty: all.
  std::vector<std::string> topics;
  bool read_only = false;
  bool auto_create = true;
  std::int32_t partitions = 1;
  TopicFormat topic_format = TopicFormat::kafka;
  std::optional<Address> advertise;
  std::int32_t node_id = 1;
  bool allow_remote = false;
  std::vector<std::string> cors;
  std::vector<std::string> http_hosts;
  /// acks=all, commits and configs are forced to disk.
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
  int workers = 2;
  std::int64_t drain_ms = 2000;
  /// Nothing: it stays.
  std::optional<std::int64_t> idle_exit_ms;
  std::int64_t lock_timeout_ms = 10000;
  bool log_requests = false;
  std::string version;
};

/// The most records' bytes that one connection has unsent before it is read no further.
inline constexpr std::size_t kMostUnsent = 1U << 20;
/// Requests of one connection that are being answered.
inline constexpr std::size_t kMostInFlight = 16;
/// The most partitions that one request may make.
inline constexpr std::int64_t kMostNewPartitions = 10000;
/// Threads that append and force, each for one partition at a time: they wait for the disk, which does more
/// forces at the same time than one after the other.
inline constexpr int kMostWriters = 8;
/// What is honoured of a Fetch's max_wait_ms.
inline constexpr std::int64_t kLongestFetchWait = 300000;

}  // namespace tk::net
