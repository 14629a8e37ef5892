// Records that own their bytes, so that tests can keep and compare what decoders hand out as views.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/format/record.h"

namespace tk::test {

struct Record {
  using Headers = std::vector<std::pair<std::string, std::optional<std::string>>>;

  std::int64_t offset = 0;
  std::int64_t timestamp = kNoTimestamp;
  TimestampType timestamp_type = TimestampType::create_time;
  std::optional<std::string> key;
  std::optional<std::string> value;
  Headers headers;

  friend auto operator<=>(const Record&, const Record&) = default;
};

/// A copy of everything that a consumer sees of a record.
inline Record owned(const RecordView& view) {
  Record record{view.offset.value(), view.timestamp, view.timestamp_type, {}, {}, {}};
  if (view.key) record.key.emplace(*view.key);
  if (view.value) record.value.emplace(*view.value);
  for (const HeaderView& header : view.headers) {
    auto& [name, value] = record.headers.emplace_back(std::string(header.name), std::nullopt);
    if (header.value) value.emplace(*header.value);
  }
  return record;
}

}  // namespace tk::test
