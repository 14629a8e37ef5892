// Who waits for a partition: long polls and parked fetches, one list a partition (serve.md §1.6).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/net/loop.h"

namespace tk::net {

/// For the loop only.
class Waiters {
 public:
  using Id = std::uint64_t;

  Id add(std::function<void()> wake) {
    waiting_.emplace(++last_, std::move(wake));
    return last_;
  }
  void remove(Id id) { waiting_.erase(id); }
  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }

  /// Calls each of those that wait now; one may take away itself or others. Where there are thousands the
  /// loop does other things in between. `owner` keeps what this belongs to.
  void wake_all(Loop& loop, std::shared_ptr<void> owner) {
    auto ids = std::make_shared<std::vector<Id>>();
    ids->reserve(waiting_.size());
    for (const auto& [id, wake] : waiting_) ids->push_back(id);
    wake_some(loop, std::move(owner), std::move(ids));
  }

 private:
  void wake_some(Loop& loop, std::shared_ptr<void> owner, std::shared_ptr<std::vector<Id>> ids) {
    constexpr int at_once = 64;
    for (int i = 0; i < at_once && !ids->empty(); ++i) {
      const auto at = waiting_.find(ids->back());
      ids->pop_back();
      if (at == waiting_.end()) continue;
      const std::function<void()> wake = at->second;
      wake();
    }
    if (ids->empty()) return;
    loop.post([this, &loop, owner = std::move(owner), ids = std::move(ids)]() mutable {
      wake_some(loop, std::move(owner), std::move(ids));
    });
  }

  std::unordered_map<Id, std::function<void()>> waiting_;
  Id last_ = 0;
};

}  // namespace tk::net
