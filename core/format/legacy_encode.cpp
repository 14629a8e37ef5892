#include "core/format/legacy_encode.h"

#include <algorithm>

#include "core/base/crc.h"
#include "core/format/legacy.h"

namespace tk {
namespace {

constexpr std::size_t kCrcAt = 12;
constexpr std::uint8_t kLogAppendTime = 0x08;

void put_nullable(Buffer& out, const std::optional<std::string_view>& bytes) {
  store_be<std::int32_t>(out.room(4), bytes ? static_cast<std::int32_t>(bytes->size()) : -1);
  out.commit(4);
  if (bytes) out.append(*bytes);
}

void put_message(Buffer& out, Offset offset, std::int8_t magic, std::uint8_t attributes,
                 std::int64_t timestamp, const std::optional<std::string_view>& key,
                 const std::optional<std::string_view>& value) {
  const std::size_t begin = out.size();
  std::uint8_t* const head = out.room(26);
  store_be<std::int64_t>(head, offset.value());
  head[16] = static_cast<std::uint8_t>(magic);
  head[17] = attributes;
  out.commit(18);
  if (magic == 1) {
    store_be<std::int64_t>(head + 18, timestamp);
    out.commit(8);
  }
  put_nullable(out, key);
  put_nullable(out, value);
  std::uint8_t* const message = out.data() + begin;
  const std::size_t size = out.size() - begin;
  store_be<std::int32_t>(message + 8, static_cast<std::int32_t>(size - kUnitPrefix));
  store_be<std::uint32_t>(message + kCrcAt, crc32({message + kMagicPosition, size - kMagicPosition}));
}

}  // namespace

UnitInfo append_legacy_message(const UnitInfo& like, const RecordView& record, Buffer& out) {
  const bool append_time = like.timestamp_type == TimestampType::log_append_time;
  const std::size_t begin = out.size();
  put_message(out, record.offset, like.magic, append_time && like.magic == 1 ? kLogAppendTime : 0,
              record.timestamp, record.key, record.value);
  UnitInfo info;
  static_cast<void>(read_legacy_info(out.view().subspan(begin), info));
  return info;
}

void LegacyWrapper::add(const RecordView& record) {
  if (!first_) first_ = record.offset;
  last_ = record.offset;
  max_timestamp_ = std::max(max_timestamp_, record.timestamp);
  const Offset inner = like_.magic == 0 ? record.offset : Offset(record.offset - *first_);
  put_message(inner_, inner, like_.magic, 0, record.timestamp, record.key, record.value);
}

UnitInfo LegacyWrapper::finish(Compressor& compressor, Buffer& out) {
  std::vector<std::uint8_t> compressed;
  compressor.compress({static_cast<Codec>(like_.codec_bits()), std::nullopt}, inner_.view(), compressed);
  const bool append_time = like_.timestamp_type == TimestampType::log_append_time;
  const std::uint8_t attributes =
      static_cast<std::uint8_t>(like_.codec_bits() | (append_time ? kLogAppendTime : 0));
  const std::size_t begin = out.size();
  put_message(out, last_, like_.magic, attributes, append_time ? like_.max_timestamp : max_timestamp_,
              std::nullopt, as_text(ByteView(compressed)));
  UnitInfo info;
  static_cast<void>(read_legacy_info(out.view().subspan(begin), info));
  return info;
}

}  // namespace tk
