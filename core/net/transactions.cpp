#include "core/net/transactions.h"

#include <algorithm>

#include "core/net/failure.h"

namespace tk::net {

ServedTransactions::ServedTransactions(Service& service) : service_(service), queue_(service.workers()) {}
ServedTransactions::~ServedTransactions() = default;

void ServedTransactions::open() {
  if (transactions_) return;
  Store::Options options;
  options.lock_wait = service_.lock_wait();
  store_.emplace(Store::open_for_writing(service_.fs(), service_.options().directory, options));
  transactions_ = std::make_unique<StoreTransactions>(
      *store_, service_.clock(),
      [this](const std::string& line) { service_.warn(Error(ErrorCode::invalid_txn_state, line)); });
}

void ServedTransactions::run(std::function<void(Coordinator&)> work, Done done) {
  queue_.post([this, work = std::move(work), done = std::move(done)] {
    const std::shared_ptr<Error> failed = failure_of([&] {
      open();
      work(transactions_->coordinator());
    });
    // What could not be finished is begun anew with a fresh look at the directory.
    if (failed &&
        (failed->code() == ErrorCode::storage_error || failed->code() == ErrorCode::unknown_server_error)) {
      service_.warn(*failed);
      transactions_.reset();
      store_.reset();
    }
    service_.loop().post([done, failed] { done(failed.get()); });
  });
}

void ServedTransactions::end(std::function<void(Coordinator&)> work,
                             const std::vector<TopicPartition>& partitions, Done done) {
  run(std::move(work), [this, partitions, done = std::move(done)](const Error* error) {
    const auto failed = error == nullptr ? nullptr : std::make_shared<Error>(*error);
    const auto left = std::make_shared<std::size_t>(1);
    const auto count_down = [left, done, failed] {
      if (--*left == 0) done(failed.get());
    };
    const auto catalog = service_.catalog();
    for (const TopicPartition& place : partitions) {
      const auto topic = catalog->find(place.topic);
      const auto partition = topic ? topic->partition(place.partition.value()) : nullptr;
      if (!partition || !partition->is_open()) continue;
      ++*left;
      partition->queue().post([this, partition, count_down] {
        partition->look_again(false);
        service_.loop().post(count_down);
      });
    }
    count_down();
  });
}

std::shared_ptr<const ProducersFile> ServedTransactions::now() {
  const std::string path = join_path(service_.options().directory, kProducersFile);
  const auto stat = service_.fs().stat(path);
  const std::lock_guard lock(mutex_);
  if (!stat) return std::make_shared<ProducersFile>();
  if (file_ && stat->inode == identity_.inode && stat->mtime_ms == identity_.mtime_ms &&
      stat->size == identity_.size)
    return file_;
  const auto read = read_producers_file(service_.fs(), service_.options().directory);
  file_ = std::make_shared<ProducersFile>(read.value_or(ProducersFile()));
  identity_ = *stat;
  return file_;
}

const TransactionEntry* ServedTransactions::find(const ProducersFile& file, const std::string& id) {
  const auto at = file.transactions.find(id);
  return at == file.transactions.end() ? nullptr : &at->second;
}

void ServedTransactions::look_for_due() {
  if (looking_ || service_.options().read_only || service_.draining()) return;
  looking_ = true;
  queue_.post([this] {
    std::vector<TopicPartition> partitions;
    bool due = false;
    const auto failed = failure_of([&] {
      const auto file = now();
      due = file->has_due(service_.clock().now_ms());
      for (const auto& [id, entry] : file->transactions) {
        if (entry.decided() || entry.expired(service_.clock().now_ms()))
          partitions.insert(partitions.end(), entry.partitions.begin(), entry.partitions.end());
      }
    });
    if (failed) due = false;
    service_.loop().post([this, due, partitions] {
      if (!due) {
        looking_ = false;
        return;
      }
      end([](Coordinator& coordinator) { coordinator.complete_due(); }, partitions,
          [this](const Error*) { looking_ = false; });
    });
  });
}

}  // namespace tk::net
