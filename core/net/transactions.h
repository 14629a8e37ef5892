// The transactions of the server's clients: the coordinator of core/producer and its file, in a queue of
// their own, with a timer for those that last too long (serve.md §2.8).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/net/service.h"
#include "core/store/store_transactions.h"

namespace tk::net {

class ServedTransactions {
 public:
  explicit ServedTransactions(Service& service);
  ~ServedTransactions();

  using Done = std::function<void(const Error*)>;
  /// Runs `work` with the coordinator, in the queue; then `done` on the loop.
  void run(std::function<void(Coordinator&)> work, Done done);
  /// The same for what ends transactions: `done` comes when readers of the partitions see the markers.
  void end(std::function<void(Coordinator&)> work, const std::vector<TopicPartition>& partitions, Done done);

  /// The file as it is now; read again only when it was replaced. For any thread.
  std::shared_ptr<const ProducersFile> now();
  /// The entry of an id; null if there is none. Valid as long as `file`.
  static const TransactionEntry* find(const ProducersFile& file, const std::string& id);

  /// Completes what was decided, aborts what is over its time. Called now and then by the loop.
  void look_for_due();

 private:
  void open();  // in the queue

  Service& service_;
  SerialQueue queue_;
  std::optional<Store> store_;
  std::unique_ptr<StoreTransactions> transactions_;
  std::mutex mutex_;
  std::shared_ptr<const ProducersFile> file_;
  FileStat identity_;
  bool looking_ = false;
};

}  // namespace tk::net
