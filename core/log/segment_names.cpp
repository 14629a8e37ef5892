#include "core/log/segment_names.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace tk {

namespace {
constexpr std::size_t kDigits = 20;
}

std::string segment_file_name(Offset base, std::string_view suffix) {
  return fmt::format("{:020}{}", base.value(), suffix);
}

std::optional<SegmentFileName> parse_segment_file_name(std::string_view name) {
  if (name.size() <= kDigits || name[kDigits] != '.') return std::nullopt;
  const std::string_view digits = name.substr(0, kDigits);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  const auto base = parse_int(digits);
  if (!base) return std::nullopt;
  return SegmentFileName{Offset(*base), std::string(name.substr(kDigits))};
}

std::optional<KraftSnapshotName> parse_snapshot_name(std::string_view name) {
  constexpr std::size_t epoch_digits = 10;
  if (name.size() < kDigits + 1 + epoch_digits || name[kDigits] != '-') return std::nullopt;
  const auto number = [](std::string_view digits) -> std::optional<std::int64_t> {
    if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return parse_int(digits);
  };
  const auto end = number(name.substr(0, kDigits));
  const auto epoch = number(name.substr(kDigits + 1, epoch_digits));
  if (!end || !epoch || *epoch > INT32_MAX) return std::nullopt;
  return KraftSnapshotName{Offset(*end), LeaderEpoch(static_cast<std::int32_t>(*epoch))};
}

}  // namespace tk
