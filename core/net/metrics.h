// What the server counts, for GET /metrics (serve.md §3.4). For the loop only.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tk::net {

class Service;

class Metrics {
 public:
  explicit Metrics(Service&) {}

  /// Upper ends of the histogram's buckets, in seconds.
  static constexpr std::array kBuckets = {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0};

  struct Histogram {
    std::array<std::uint64_t, kBuckets.size()> buckets{};
    std::uint64_t count = 0;
    double sum = 0;
    void add(double value) {
      for (std::size_t i = 0; i < kBuckets.size(); ++i) {
        if (value <= kBuckets[i]) ++buckets[i];
      }
      ++count;
      sum += value;
    }
  };
  struct Api {
    std::uint64_t requests = 0;
    Histogram seconds;
    std::map<std::int16_t, std::uint64_t> errors;
  };

  /// A request was answered, after so long without the time it was parked.
  void answered(std::string_view listener, std::string_view api, double seconds, std::int16_t error) {
    Api& one = apis[std::string(listener)][std::string(api)];
    ++one.requests;
    one.seconds.add(seconds);
    if (error != 0) ++one.errors[error];
  }

  std::map<std::string, std::map<std::string, Api>> apis;  // by listener
  std::uint64_t sent_from_files = 0;
  std::uint64_t sent_from_memory = 0;
  std::uint64_t received = 0;
  std::uint64_t kafka_connections = 0;
  std::uint64_t http_connections = 0;
  std::uint64_t damaged = 0;
  Histogram sync_seconds;
  std::uint64_t sync_batches = 0;
  std::int64_t started_ms = 0;
};

}  // namespace tk::net
