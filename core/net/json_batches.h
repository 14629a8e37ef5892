// Records of json topics as the batches that Kafka's clients read (serve.md §2.5), and with --on-damage skip
// the whole batches of a damaged log. The stretches converted last are kept, as many readers follow one tail.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "core/base/buffer.h"
#include "core/base/ids.h"
#include "core/net/partition.h"

namespace tk::net {

class Service;

class JsonBatches {
 public:
  struct Stretch {
    Buffer bytes;
    std::size_t first_size = 0;  // of the first batch
    const Partition* partition = nullptr;
    std::weak_ptr<Partition> owner;
    Offset from;
    Offset next;
  };
  /// What a fetch answer holds of converted bytes at most (serve.md §1.4).
  static constexpr std::size_t kMostConverted = 4U << 20;

  explicit JsonBatches(Service& service) : service_(service) {}

  /// A stretch that begins at `from` and ends at or below `below`, if it is kept. For any thread.
  std::shared_ptr<Stretch> find(const Partition& partition, Offset from, Offset below);
  /// Makes one. May block. Empty at the end of what can be read.
  std::shared_ptr<Stretch> convert(Partition& partition, Offset from, Offset below);

 private:
  void keep(std::shared_ptr<Stretch> stretch);

  Service& service_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Stretch>> kept_;  // the newest first
  std::size_t kept_bytes_ = 0;
};

}  // namespace tk::net
