// Who waits for a partition: long polls and parked fetches, one list a partition (serve.md §1.6).
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

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

  /// Calls each of those that wait now; one may take away itself or others.
  void wake_all() {
    std::vector<Id> ids;
    ids.reserve(waiting_.size());
    for (const auto& [id, wake] : waiting_) ids.push_back(id);
    for (const Id id : ids) {
      const auto at = waiting_.find(id);
      if (at == waiting_.end()) continue;
      const std::function<void()> wake = at->second;
      wake();
    }
  }

 private:
  std::unordered_map<Id, std::function<void()>> waiting_;
  Id last_ = 0;
};

}  // namespace tk::net
