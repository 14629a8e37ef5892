// Kafka's ids: 16 bytes, written as 22 characters of URL-safe base64 without padding (kafka-on-disk.md §0.1).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tk {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  [[nodiscard]] bool is_zero() const { return *this == Uuid{}; }
  /// The 22-character form.
  [[nodiscard]] std::string text() const;
  /// 32 lower-case hex digits, as in the names of directories that wait for deletion.
  [[nodiscard]] std::string hex() const;
  static std::optional<Uuid> parse(std::string_view text);
  /// A new random id (version 4) from the system's randomness; never one that begins with a dash or is
  /// reserved.
  static Uuid random();

  friend bool operator==(const Uuid&, const Uuid&) = default;
  /// By their bytes.
  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

}  // namespace tk
