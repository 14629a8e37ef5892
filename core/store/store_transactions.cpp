#include "core/store/store_transactions.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

constexpr std::uint64_t kLargestSnapshot = 256U << 20;

std::int64_t highest_id(FileSystem& fs, const PartitionInfo& partition) {
  std::int64_t highest = -1;
  if (!fs.stat(partition.directory)) return highest;
  for (const Offset offset : list_partition(fs, partition.directory).snapshots) {
    ProducerState state;
    const std::string path = join_path(partition.directory, segment_file_name(offset, kSnapshotSuffix));
    if (state.decode_snapshot(as_bytes(read_whole(fs, path, kLargestSnapshot)))) continue;
    for (const auto& [id, entry] : state.producers()) highest = std::max(highest, id.value());
  }
  return highest;
}

}  // namespace

StoreTransactions::StoreTransactions(Store& store, const Clock& clock, Note note)
    : store_(store),
      note_(std::move(note)),
      topics_(store),
      groups_(store.file_system(), store.directory(), clock, {.lock_wait = store.lock_wait()}),
      coordinator_(store.file_system(), store.directory(), clock, *this, groups_, topics_,
                   {.lock_wait = store.lock_wait(), .note = note_}) {}

// A partition that the store does not know may have been made since the store was opened: to take it for
// deleted would leave a transaction in it open for ever.
const PartitionInfo* StoreTransactions::find(const TopicPartition& partition) {
  const auto look = [&]() -> const PartitionInfo* {
    const TopicInfo* topic = store().find(partition.topic);
    if (topic == nullptr) return nullptr;
    const auto at =
        std::ranges::lower_bound(topic->partitions, partition.partition, {}, &PartitionInfo::partition);
    return at == topic->partitions.end() || at->partition != partition.partition ? nullptr : &*at;
  };
  if (const PartitionInfo* found = look()) return found;
  FileSystem& fs = store_.file_system();
  const std::string path =
      join_path(store_.directory(), partition_directory_name(partition.topic, partition.partition));
  if (!fs.stat(path)) return nullptr;
  Store::Options options;
  options.lock_wait = store_.lock_wait();
  Store anew = Store::open_for_writing(fs, store_.directory(), options);
  fresh_.reset();
  fresh_.emplace(std::move(anew));
  return look();
}

std::unique_ptr<PartitionLog> StoreTransactions::open(const TopicPartition& partition) {
  const PartitionInfo* const found = find(partition);
  if (found == nullptr || !store_.file_system().stat(found->directory)) return nullptr;
  return store().open_for_append(*store().find(partition.topic), partition.partition, SyncPolicy::at_end,
                                 note_);
}

TopicFormat StoreTransactions::format(const TopicPartition& partition) const {
  return (fresh_ ? *fresh_ : store_).find(partition.topic)->format;
}

std::int64_t StoreTransactions::first_id() const {
  std::int64_t first = store_.is_broker() ? kFirstProducerIdInBroker : kFirstProducerId;
  for (const TopicInfo& topic : store_.topics()) {
    for (const PartitionInfo& partition : topic.partitions)
      first = std::max(first, highest_id(store_.file_system(), partition) + 1);
  }
  return first;
}

bool has_due_transactions(FileSystem& fs, const std::string& directory, std::int64_t now_ms) {
  const auto file = read_producers_file(fs, directory);
  return file && file->has_due(now_ms);
}

void expire_transactions(Store& store, const Clock& clock, const StoreTransactions::Note& note) {
  if (!has_due_transactions(store.file_system(), store.directory(), clock.now_ms())) return;
  StoreTransactions(store, clock, note).coordinator().complete_due();
}

std::vector<ProducerId> known_producers(FileSystem& fs, const std::string& directory) {
  const auto file = read_producers_file(fs, directory);
  return file ? file->known_ids() : std::vector<ProducerId>();
}

}  // namespace tk
