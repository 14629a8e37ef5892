#include "core/net/maintenance.h"

#include "core/net/failure.h"
#include "core/store/upkeep.h"

namespace tk::net {
namespace {

/// One topic's partitions, as `tk retain` and `tk compact` would.
void maintain(Service& service, Store& store, const TopicInfo& topic) {
  const UpkeepConfig config = upkeep_config(topic.configs, topic.tk_made);
  const std::int64_t now_ms = service.clock().now_ms();
  for (const PartitionInfo& partition : topic.partitions) {
    try {
      if (sets_retention(topic.configs)) retain(store, topic, partition, topic.configs, now_ms, false);
      if (config.compacts) {
        CompactRun run;
        run.map_bytes = 16U << 20;
        run.interrupted = [&service] { return service.draining(); };
        compact(store, topic, partition, topic.configs, now_ms, run);
      }
    } catch (const Error& error) {
      // A partition that is busy has its turn the next time.
      if (error.code() != ErrorCode::log_dir_locked) service.warn(error, &partition);
    }
  }
}

}  // namespace

void Maintenance::start() {
  if (service_.options().maintain_ms <= 0 || service_.options().read_only) return;
  service_.loop().after(service_.options().maintain_ms, [this] { run(); });
}

// Only topics whose own configs ask for something cost anything.
void Maintenance::run() {
  std::vector<std::string> names;
  for (const auto& [name, topic] : service_.catalog()->topics()) {
    if (sets_retention(topic->configs) || upkeep_config(topic->configs, topic->tk_made).compacts)
      names.push_back(name);
  }
  if (names.empty()) return start();
  service_.workers().post([this, names] {
    const auto failed = failure_of([&] {
      service_.topics().with_own_store([&](Store& store) {
        for (const std::string& name : names) {
          const TopicInfo* const topic = store.find(name);
          if (topic != nullptr && !service_.draining()) maintain(service_, store, *topic);
        }
      });
    });
    if (failed) service_.warn(*failed);
    service_.loop().post([this] {
      if (!service_.draining()) start();
    });
  });
}

}  // namespace tk::net
