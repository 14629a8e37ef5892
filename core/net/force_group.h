// How many appends one force waits for. A force takes as long for one append as for many, and producers send
// the next batches when they have the answers to the last ones: a force that began with the first of them to
// come would make all others wait for two. So a round waits a part of what a force takes for as many as are
// under way. Whoever sends one record at a time waits for nobody.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tk::net {

class ForceGroup {
 public:
  /// A force has ended that took so long and covered `covered` appends; `waiting` came meanwhile.
  void ended(std::size_t covered, std::size_t waiting, std::int64_t took_us, std::int64_t now_us) {
    expected_ = covered + waiting;
    const std::int64_t patience = std::min(took_us / 3, kMostPatienceUs);
    until_us_ = patience < kLeastPatienceUs ? 0 : now_us + patience;
  }
  /// How much longer a round with `have` appends waits for more, in us; 0: it begins.
  [[nodiscard]] std::int64_t patience_us(std::size_t have, std::int64_t now_us) const {
    return have >= expected_ ? 0 : std::max<std::int64_t>(until_us_ - now_us, 0);
  }

 private:
  static constexpr std::int64_t kMostPatienceUs = 3000;
  /// Below, waking up costs more than is gained.
  static constexpr std::int64_t kLeastPatienceUs = 300;

  std::size_t expected_ = 0;
  std::int64_t until_us_ = 0;
};

}  // namespace tk::net
