#include "core/format/legacy.h"

#include "core/base/crc.h"

namespace tk {

namespace {

constexpr std::size_t kSize = 8;
constexpr std::size_t kCrc = 12;
constexpr std::uint8_t kCodecBits = 0x07;
constexpr std::uint8_t kLogAppendTime = 0x08;

Fault bad_record(const char* detail, std::int64_t found = 0, std::int64_t expected = 0) {
  return {FaultKind::record, detail, found, expected};
}

struct Message {
  std::uint32_t crc = 0;
  std::int8_t magic = 0;
  std::uint8_t attributes = 0;
  std::int64_t timestamp = kNoTimestamp;
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
};

/// Only -1 means null; every other negative length is as wrong as one that goes past the end.
bool read_nullable(ByteReader& reader, std::optional<std::string_view>& out) {
  const auto length = reader.be<std::int32_t>();
  if (!reader.ok() || length < -1) return false;
  if (length == -1) return true;
  out = as_text(reader.take(static_cast<std::size_t>(length)));
  return reader.ok();
}

/// Parses one whole entry; gives what is wrong with it, null if nothing is. Bytes behind the value are not
/// looked at, as Kafka has it.
const char* parse_message(ByteView entry, Message& message) {
  ByteReader reader(entry);
  reader.take(kCrc);
  message.crc = reader.be<std::uint32_t>();
  message.magic = reader.be<std::int8_t>();
  message.attributes = reader.be<std::uint8_t>();
  if (!reader.ok()) return "the message is too small for its header";
  if (message.magic != 0 && message.magic != 1) return "the message's magic is neither 0 nor 1";
  if (message.magic == 1) message.timestamp = reader.be<std::int64_t>();
  if (!reader.ok()) return "the message is too small for its timestamp";
  if (!read_nullable(reader, message.key))
    return "the key's length is negative or goes past the message's end";
  if (!read_nullable(reader, message.value))
    return "the value's length is negative or goes past the message's end";
  return nullptr;
}

std::uint32_t computed_crc(ByteView entry) {
  return crc32(entry.subspan(kMagicPosition));
}

/// The whole entry at `position`, empty where fewer bytes are left than it says. Its size field was not
/// judged.
ByteView entry_at(ByteView set, std::size_t position) {
  const ByteView rest = set.subspan(position);
  if (rest.size() < kUnitPrefix) return {};
  const auto size = load_be<std::int32_t>(rest.data() + kSize);
  if (size < 0 || static_cast<std::size_t>(size) > rest.size() - kUnitPrefix) return {};
  return rest.first(kUnitPrefix + static_cast<std::size_t>(size));
}

}  // namespace

Fault read_legacy_info(ByteView unit, UnitInfo& info) {
  info = {};
  info.kind = UnitKind::legacy;
  info.size = unit.size();
  info.timestamp_type = TimestampType::none;
  ByteReader reader(unit);
  info.base_offset = info.last_offset = Offset(reader.be<std::int64_t>());
  reader.be<std::int32_t>();
  info.crc = reader.be<std::uint32_t>();
  info.magic = reader.be<std::int8_t>();
  info.attributes = reader.be<std::uint8_t>();
  if (!reader.ok()) return bad_record("the message is too small for its header");
  if (info.magic != 0 && info.magic != 1) {
    return {FaultKind::bad_magic, "the message's magic is neither 0 nor 1", info.magic, 1};
  }
  if (info.magic == 1) {
    info.timestamp_type =
        (info.attributes & kLogAppendTime) != 0 ? TimestampType::log_append_time : TimestampType::create_time;
    const auto timestamp = reader.be<std::int64_t>();
    if (reader.ok()) info.max_timestamp = timestamp;
  }
  const std::int64_t least = info.magic == 0 ? 14 : 22;
  const std::int64_t size = static_cast<std::int64_t>(unit.size() - kUnitPrefix);
  if (size < least) return bad_record("the message is smaller than its magic's fields", size, least);
  return {};
}

Fault check_legacy(ByteView unit) {
  if (unit.size() < kUnitPrefix + kMinLegacyLength) {
    return {FaultKind::bad_length, "the message is too small for its header",
            static_cast<std::int64_t>(unit.size()),
            static_cast<std::int64_t>(kUnitPrefix) + kMinLegacyLength};
  }
  const auto stored = load_be<std::uint32_t>(unit.data() + kCrc);
  const std::uint32_t computed = computed_crc(unit);
  if (stored == computed) return {};
  return {FaultKind::bad_crc, "the message's CRC-32 does not match", stored, computed};
}

LegacyRecords::Iterator& LegacyRecords::Iterator::operator++() {
  position_ += entry_at(records_->set_, position_).size();
  ++index_;
  load();
  return *this;
}

void LegacyRecords::Iterator::load() {
  if (index_ >= records_->count_) return;
  const ByteView entry = entry_at(records_->set_, position_);
  Message message;
  parse_message(entry, message);  // went well once: count_ says so
  record_.crc = message.crc;
  record_.magic = message.magic;
  record_.valid = records_->all_valid_ || computed_crc(entry) == message.crc;
  RecordView& record = record_.record;
  record.offset = Offset(load_be<std::int64_t>(entry.data())) + records_->shift_;
  record.timestamp =
      message.magic != 0 && records_->append_time_ ? *records_->append_time_ : message.timestamp;
  record.encoded_timestamp = message.timestamp;
  record.timestamp_type = records_->timestamp_type_;
  record.key = message.key;
  record.value = message.value;
}

Fault LegacyDecoder::decode(ByteView unit, const UnitInfo& info, Decompressor& decompressor) {
  records_ = {};
  oddity_ = nullptr;
  records_.timestamp_type_ = info.timestamp_type;
  if (info.compressed()) {
    if (const Fault fault = open_wrapper(unit, info, decompressor)) return fault;
  } else {
    // A single message is a set of one: its offset needs no shift, its timestamp is its own.
    records_.set_ = unit;
    records_.count_ = 1;
  }
  return check_entries(info);
}

/// Decompresses the wrapper's value and settles how its entries' offsets and timestamps are to be read.
Fault LegacyDecoder::open_wrapper(ByteView unit, const UnitInfo& info, Decompressor& decompressor) {
  Message wrapper;
  if (const char* error = parse_message(unit, wrapper)) return bad_record(error);
  const std::uint8_t codec = info.codec_bits();
  if (codec > static_cast<std::uint8_t>(Codec::lz4)) {
    return bad_record("the wrapper names a codec that its magic does not have", codec);
  }
  if (!wrapper.value) return bad_record("the wrapper has no value");
  const auto header_checksum = info.magic == 0 ? Lz4HeaderChecksum::ignored : Lz4HeaderChecksum::verified;
  const Decompressed set =
      decompressor.decompress(static_cast<Codec>(codec), as_bytes(*wrapper.value), header_checksum);
  if (set.error != nullptr) return bad_record(set.error);
  records_.set_ = set.bytes;

  Offset last;
  if (const Fault fault = count_entries(last)) {
    records_.count_ = 0;
    return fault;
  }
  if (info.magic == 0) {
    if (last != info.last_offset) note("the wrapper's offset is not that of its last message");
    return {};
  }
  // Some clients produced wrappers with offset 0: there the inner offsets stand for themselves.
  if (info.last_offset != Offset(0)) {
    if (info.last_offset < last) {
      records_.count_ = 0;
      return bad_record("the wrapper's offset is less than that of its last message",
                        info.last_offset.value(), last.value());
    }
    records_.shift_ = info.last_offset - last;
  } else if (last != Offset(0)) {
    note("the wrapper's offset is 0 though it holds several messages");
  }
  if (info.timestamp_type == TimestampType::log_append_time) records_.append_time_ = info.max_timestamp;
  return {};
}

/// Walks the sizes of a decompressed set, without which no offset of a magic-1 wrapper is known.
Fault LegacyDecoder::count_entries(Offset& last) {
  std::size_t position = 0;
  while (records_.set_.size() - position >= kUnitPrefix) {
    const auto size = load_be<std::int32_t>(records_.set_.data() + position + kSize);
    if (size < kMinLegacyLength)
      return bad_record("an inner message's size is below the least", size, kMinLegacyLength);
    const ByteView entry = entry_at(records_.set_, position);
    if (entry.empty()) break;
    last = Offset(load_be<std::int64_t>(entry.data()));
    position += entry.size();
    ++records_.count_;
  }
  if (records_.count_ == 0) return bad_record("the wrapper holds no messages");
  if (position != records_.set_.size()) note("the wrapper's last message is cut off");
  return {};
}

/// Parses and sums every message once. A message that cannot be parsed ends the set; one whose checksum is
/// wrong does not, so that all of it can still be shown.
Fault LegacyDecoder::check_entries(const UnitInfo& info) {
  Fault first;
  std::size_t position = 0;
  Offset previous;
  for (std::size_t i = 0; i < records_.count_; ++i) {
    const ByteView entry = entry_at(records_.set_, position);
    Message message;
    const char* error = parse_message(entry, message);
    if (error == nullptr && info.compressed() && (message.attributes & kCodecBits) != 0) {
      error = "a message inside a wrapper is compressed itself";
    }
    if (error != nullptr) {
      records_.count_ = i;
      return first ? first : bad_record(error);
    }
    const std::uint32_t computed = computed_crc(entry);
    if (computed != message.crc && !first) {
      first = {info.compressed() ? FaultKind::record : FaultKind::bad_crc,
               "the message's CRC-32 does not match", message.crc, computed};
      records_.all_valid_ = false;
    }
    const Offset offset(load_be<std::int64_t>(entry.data()));
    if (message.magic != info.magic) note("a message's magic differs from its wrapper's");
    if (i > 0 && offset <= previous) note("the offsets inside the wrapper do not rise");
    if (info.compressed() && info.magic == 1 && offset < Offset(0))
      note("an offset inside the wrapper is negative");
    previous = offset;
    position += entry.size();
  }
  return first;
}

}  // namespace tk
