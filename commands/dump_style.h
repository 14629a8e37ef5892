// What `tk dump-log` shows of a file, as its options say.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "commands/dump_decoder.h"
#include "core/format/unit.h"

namespace tk {

struct DumpStyle {
  /// NDJSON objects instead of Kafka's text.
  bool json = false;
  /// A line for each record, too.
  bool records = false;
  /// Keys and values in the record lines (NDJSON records always have them).
  bool data = false;
  /// Record lines without offset, timestamp and sizes.
  bool skip_record_metadata = false;
  /// The records are those of an internal topic.
  DumpDecoder decoder = DumpDecoder::none;
  /// --offsets A:B.
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;

  [[nodiscard]] bool filters() const { return from.has_value() || to.has_value(); }
  /// Whether an offset of [first, last] is wanted.
  [[nodiscard]] bool wants(Offset first, Offset last) const {
    return (!from || last.value() >= *from) && (!to || first.value() < *to);
  }
  [[nodiscard]] bool wants(Offset offset) const { return wants(offset, offset); }
};

/// The codec's name, "unknown" for the bits that no codec has.
inline std::string_view shown_codec(const UnitInfo& info) {
  const std::uint8_t bits = info.codec_bits();
  return bits <= static_cast<std::uint8_t>(Codec::zstd) ? codec_name(static_cast<Codec>(bits)) : "unknown";
}

}  // namespace tk
