#include "core/producer/named_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/base/clock.h"
#include "core/base/text.h"

namespace tk {
namespace {

constexpr std::int64_t kSequences = std::int64_t{1} << 31;
constexpr std::int64_t kNoteEvery = std::int64_t{1} << 30;
constexpr std::int64_t kLookEveryMs = 5;

std::uint64_t running_byte(ProducerId id) {
  return 1 + static_cast<std::uint64_t>(id.value());
}

/// The right to run under this id, when it is to be had within the wait.
std::unique_ptr<LockFile> lock_running(FileSystem& fs, const std::string& directory, const std::string& name,
                                       ProducerId id, const LockWait& wait) {
  const std::string path = join_path(directory, kProducersLockFile);
  auto file = fs.open_lock(path);
  const std::int64_t deadline = monotonic_ms() + wait.timeout_ms;
  while (!file->try_lock(LockKind::exclusive, running_byte(id), 1)) {
    if (monotonic_ms() >= deadline || (wait.interrupted && wait.interrupted())) {
      throw Error(ErrorCode::log_dir_locked,
                  fmt::format("another run of producer '{}' goes on", printable(name)))
          .at(path)
          .hint("one name is one input, so its runs wait for each other; another input takes another name");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookEveryMs));
  }
  return file;
}

}  // namespace

NamedRun::NamedRun(FileSystem& fs, std::string directory, Options options)
    : fs_(fs), directory_(std::move(directory)), options_(std::move(options)) {
  check_producer_name(options_.name, "the producer's name");
  enter();
  running_ = lock_running(fs_, directory_, options_.name, id_, options_.lock_wait);
  // While this waited, somebody may have deleted the name, and another run made it anew.
  const ProducerId waited_for = id_;
  enter();
  if (id_ == waited_for) return;
  throw Error(ErrorCode::log_dir_locked,
              fmt::format("producer '{}' was deleted and made anew meanwhile", printable(options_.name)))
      .at(join_path(directory_, kProducersFile))
      .hint("run it again");
}

void NamedRun::enter() {
  const auto lock = lock_producers_file(fs_, directory_, options_.lock_wait);
  auto there = read_producers_file(fs_, directory_);
  ProducersFile file = there ? std::move(*there) : ProducersFile{};
  if (!there && options_.first_id) file.next_producer_id = options_.first_id();
  const auto [at, is_new] = file.producers.try_emplace(options_.name);
  NamedProducer& producer = at->second;
  if (is_new) producer.id = ProducerId(file.next_producer_id++);
  const auto [topic, first_time] = producer.partitions.try_emplace(options_.topic, options_.partitions);
  if (topic->second != options_.partitions) {
    throw Error(
        ErrorCode::out_of_order_sequence_number,
        fmt::format("topic '{}' had {} partitions when producer '{}' began, and has {} now: its records "
                    "would go elsewhere",
                    options_.topic, topic->second, printable(options_.name), options_.partitions))
        .at(join_path(directory_, kProducersFile))
        .hint("go on under another name, with what is missing of the input");
  }
  if (is_new || first_time) write_producers_file(fs_, directory_, file);
  id_ = producer.id;
  epoch_ = producer.epoch;
  noted_.clear();
  for (const auto& [partition, records] : producer.counts) {
    if (partition.topic == options_.topic) noted_[partition.partition.value()] = records;
  }
}

std::int64_t records_of_sequence(std::int32_t last_sequence, std::int64_t least) {
  const std::int64_t records = std::int64_t{last_sequence} + 1;
  if (records >= least) return records;
  return records + (least - records + kSequences - 1) / kSequences * kSequences;
}

std::int64_t NamedRun::held(PartitionId partition, const ProducerState& state) {
  const ProducerEntry* const entry = state.find(id_);
  if (entry == nullptr || entry->epoch != epoch_ || entry->last_batch() == nullptr) {
    if (noted_.erase(partition.value()) > 0) lost_.push_back(partition);  // of a topic of that name before
    return 0;
  }
  const auto noted = noted_.find(partition.value());
  return records_of_sequence(entry->last_batch()->last_sequence, noted == noted_.end() ? 0 : noted->second);
}

void NamedRun::forget_lost_counts() {
  if (lost_.empty()) return;
  const auto lock = lock_producers_file(fs_, directory_, options_.lock_wait);
  auto file = read_producers_file(fs_, directory_);
  const auto at = file ? file->producers.find(options_.name) : decltype(file->producers.find("")){};
  if (!file || at == file->producers.end() || at->second.id != id_) return;
  for (const PartitionId partition : lost_) at->second.counts.erase({options_.topic, partition});
  write_producers_file(fs_, directory_, *file);
  lost_.clear();
}

bool NamedRun::wants_note(PartitionId partition, std::int64_t records) const {
  if (records < kNoteEvery) return false;
  const auto noted = noted_.find(partition.value());
  return records - (noted == noted_.end() ? 0 : noted->second) >= kNoteEvery;
}

bool NamedRun::note_count(PartitionId partition, std::int64_t records) {
  auto lock = fs_.open_lock(join_path(directory_, kProducersLockFile));
  if (!lock->try_lock(LockKind::exclusive, 0, 1)) return false;
  auto file = read_producers_file(fs_, directory_);
  if (!file) return true;
  const auto at = file->producers.find(options_.name);
  if (at == file->producers.end() || at->second.id != id_) return true;
  at->second.counts[{options_.topic, partition}] = records;
  write_producers_file(fs_, directory_, *file);
  noted_[partition.value()] = records;
  return true;
}

namespace {

bool same(const StoredRecord& stored, const RecordFields& given) {
  if (stored.key != given.key || stored.value != given.value) return false;
  if (stored.value && stored.value_is_json != given.value_is_json) return false;
  return std::ranges::equal(stored.headers, given.headers, [](const auto& a, const HeaderView& b) {
    return a.first == b.name && a.second == b.value;
  });
}

}  // namespace

void require_same_record(const std::optional<StoredRecord>& stored, const RecordFields& given,
                         const std::string& producer, std::int64_t number, const std::string& path) {
  if (!stored || same(*stored, given)) return;
  throw Error(ErrorCode::out_of_order_sequence_number,
              fmt::format("this is another input than the one that producer '{}' wrote: its record {} here "
                          "differs from the one at offset {}",
                          printable(producer), number + 1, stored->offset.value()))
      .at(path)
      .hint("one name, one input: pipe the same input again, or take another --producer name for this one");
}

void delete_named_producer(FileSystem& fs, const std::string& directory, const std::string& name,
                           const LockWait& wait) {
  const auto lock = lock_producers_file(fs, directory, wait);
  auto file = read_producers_file(fs, directory);
  const auto at = file ? file->producers.find(name) : decltype(file->producers.find(name)){};
  if (!file || at == file->producers.end()) {
    Error error(ErrorCode::unknown_producer_id, fmt::format("there is no producer '{}'", printable(name)));
    error = std::move(error).at(join_path(directory, kProducersFile));
    std::vector<std::string> names;
    if (file) {
      for (const auto& [known, producer] : file->producers) names.push_back(known);
    }
    const auto nearest = nearest_name(name, names);
    throw nearest ? std::move(error).hint(fmt::format("did you mean '{}'?", printable(*nearest)))
                  : std::move(error);
  }
  const auto running = lock_running(fs, directory, name, at->second.id, LockWait(0));
  file->producers.erase(at);
  write_producers_file(fs, directory, *file);
}

}  // namespace tk
