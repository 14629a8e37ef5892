// Numbers of the domain as types of their own, so that an offset is never handed over as an epoch.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace tk {

/// A record's offset: its number in the partition, from 0. Differences of offsets are plain integers.
class Offset {
 public:
  constexpr Offset() = default;
  constexpr explicit Offset(std::int64_t value) : value_(value) {}
  [[nodiscard]] constexpr std::int64_t value() const { return value_; }

  constexpr auto operator<=>(const Offset&) const = default;
  constexpr Offset& operator++() { return *this += 1; }
  constexpr Offset& operator+=(std::int64_t delta) { return value_ = wrapped(value_, delta), *this; }
  friend constexpr Offset operator+(Offset offset, std::int64_t delta) { return offset += delta; }
  friend constexpr Offset operator-(Offset offset, std::int64_t delta) { return offset += negated(delta); }
  friend constexpr std::int64_t operator-(Offset a, Offset b) { return wrapped(a.value_, negated(b.value_)); }

 private:
  // Offsets on a damaged disk may be anything: arithmetic wraps as Kafka's does instead of being undefined.
  static constexpr std::int64_t wrapped(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
  static constexpr std::int64_t negated(std::int64_t a) {
    return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
  }
  std::int64_t value_ = 0;
};

/// An integer that only compares with its own kind.
template <class Tag, class Rep>
class Tagged {
 public:
  constexpr Tagged() = default;
  constexpr explicit Tagged(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep value() const { return value_; }
  constexpr auto operator<=>(const Tagged&) const = default;

 private:
  Rep value_{};
};

/// How many times the partition's leadership had changed when a batch was written; -1: unknown (KIP-101).
using LeaderEpoch = Tagged<struct LeaderEpochTag, std::int32_t>;
/// The id of an idempotent or transactional producer; -1: none (KIP-98).
using ProducerId = Tagged<struct ProducerIdTag, std::int64_t>;
/// A partition's number within its topic, from 0.
using PartitionId = Tagged<struct PartitionIdTag, std::int32_t>;

inline constexpr LeaderEpoch kNoLeaderEpoch{-1};
inline constexpr ProducerId kNoProducerId{-1};
/// The timestamp of a record without one, in ms.
inline constexpr std::int64_t kNoTimestamp = -1;

}  // namespace tk

template <class Tag, class Rep>
struct std::hash<tk::Tagged<Tag, Rep>> {
  std::size_t operator()(const tk::Tagged<Tag, Rep>& id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};
