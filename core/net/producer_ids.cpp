#include "core/net/producer_ids.h"

#include <algorithm>

#include "core/producer/producers_file.h"
#include "core/store/store_transactions.h"

namespace tk::net {

void ProducerIds::next(std::function<void(std::int64_t, const Error*)> done) {
  if (next_ < end_) return done(next_++, nullptr);
  waiting_.push_back(std::move(done));
  if (asking_) return;
  asking_ = true;
  const auto first = std::make_shared<std::int64_t>(0);
  service_.administer(
      [this, first] {
        service_.topics().with_own_store([&](Store& store) {
          const auto lock = lock_producers_file(store.file_system(), store.directory(), store.lock_wait());
          std::optional<ProducersFile> file = read_producers_file(store.file_system(), store.directory());
          if (!file) {
            file.emplace();
            file->next_producer_id = StoreTransactions(store, service_.clock()).first_id();
          }
          *first = file->next_producer_id;
          file->next_producer_id += kBlock;
          write_producers_file(store.file_system(), store.directory(), *file);
        });
      },
      [this, first](const Error* error) {
        asking_ = false;
        if (error == nullptr) {
          next_ = *first;
          end_ = *first + kBlock;
        }
        for (const auto& waiting : std::exchange(waiting_, {}))
          waiting(error == nullptr ? next_++ : -1, error);
      });
}

}  // namespace tk::net
