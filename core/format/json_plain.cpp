#include "core/format/json_plain.h"

#include <charconv>
#include <cstring>

#include "core/base/chunk16.h"
#include "core/base/crc.h"
#include "core/base/put_text.h"
#include "core/format/json_record_layout.h"
#include "core/format/unit.h"

namespace tk {

using namespace json_layout;

namespace {

/// Eight characters as a load gives them.
constexpr std::uint64_t word(const char (&text)[9]) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < 8; ++i)
    out |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[i])) << (8 * i);
  return out;
}
std::uint64_t word_at(const void* at) {
  return load_le<std::uint64_t>(static_cast<const std::uint8_t*>(at));
}

constexpr char kStamp[] = "\",\"ts\":";
constexpr std::size_t kStampSize = sizeof kStamp - 1;
/// Tails that three words cover: every time from 1970 to the year 318857, but for the first three hours.
constexpr std::size_t kLeastTail = 16, kMostTail = 24;
/// Up to the value's first byte when the key is null.
constexpr std::size_t kNullKeyHead = 21;
constexpr std::size_t kLeastUnit = kUnitPrefix + kNullKeyHead + kLeastTail + kCrcSuffix;

/// True if a text that at least a chunk of other bytes follows holds a quote or a backslash.
inline bool has_quoting(const char* text, std::size_t size) {
  Chunk16 found = Chunk16::load_part("", 0);
  std::size_t at = 0;
  for (; at + Chunk16::kSize < size; at += Chunk16::kSize)
    found = found | Chunk16::load(text + at).marked_quoting();
  const std::uint32_t last = Chunk16::load(text + at).json_quoting();
  return found.non_ascii() != 0 || (last & ((1ULL << (size - at)) - 1)) != 0;
}

/// The place of the closing quote of a key at `at`; null if there is none before `end`, or a backslash.
inline const char* key_end(const char* at, const char* end) {
  for (; at < end; at += Chunk16::kSize) {
    const std::uint32_t found = Chunk16::load(at).json_quoting();
    if (found == 0) continue;
    at += std::countr_zero(found);
    return at < end && *at == '"' ? at : nullptr;
  }
  return nullptr;
}

}  // namespace

bool PlainJsonReader::read_one(const std::uint8_t* const unit, std::size_t left, std::size_t& size,
                               PlainJsonRecord& record) const {
  if (left < kLeastUnit) return false;
  const auto length = load_be<std::int32_t>(unit + 8);
  size = kUnitPrefix + static_cast<std::size_t>(length);
  if (length < static_cast<std::int32_t>(kLeastUnit - kUnitPrefix) || size > left) return false;
  const char* const body = reinterpret_cast<const char*>(unit + kUnitPrefix);
  const char* const suffix = body + length - kCrcSuffix;
  const char* const tail = suffix - tail_size_;
  if (word_at(suffix) != word(",\"crc\":\"") || std::memcmp(suffix + 16, "\"}", 2) != 0) return false;
  if (word_at(tail) != tail_[0] || word_at(tail + 8) != tail_[1] || word_at(suffix - 8) != tail_[2])
    return false;

  const char* value = body + kNullKeyHead;
  record.key = nullptr;
  record.key_size = 0;
  if (word_at(body) == word("{\"key\":n")) {
    if (word_at(body + 8) != word("ull,\"val") || word_at(value - 8) != word("value\":\"")) return false;
  } else {
    if (word_at(body) != word("{\"key\":\"")) return false;
    const char* const end = key_end(body + 8, tail);
    if (end == nullptr || word_at(end) != word("\",\"value") || std::memcmp(end + 8, "\":\"", 3) != 0)
      return false;
    record.key = body + 8;
    record.key_size = static_cast<std::uint32_t>(end - record.key);
    value = end + 11;
  }
  if (value > tail) return false;
  const auto value_size = static_cast<std::size_t>(tail - value);
  if (has_quoting(value, value_size)) return false;
  std::array<char, kCrcDigits> digits;
  put_hex32(digits.data(), crc32c({unit, size - kCrcSuffix}));
  if (word_at(suffix + 8) != word_at(digits.data())) return false;
  record.offset = load_be<std::int64_t>(unit);
  record.timestamp = timestamp_;
  record.value = value;
  record.value_size = static_cast<std::uint32_t>(value_size);
  return true;
}

// Looks at the unit's end for a tail as tk writes it. True if it is another one than before.
bool PlainJsonReader::learn_tail(const std::uint8_t* const unit, std::size_t left) {
  if (left < kLeastUnit) return false;
  const auto length = load_be<std::int32_t>(unit + 8);
  if (length < static_cast<std::int32_t>(kLeastUnit - kUnitPrefix) ||
      static_cast<std::size_t>(length) > left - kUnitPrefix)
    return false;
  const char* const end = reinterpret_cast<const char*>(unit + kUnitPrefix) + length - kCrcSuffix;
  const char* digits = end;
  while (end - digits < static_cast<std::ptrdiff_t>(kMostTail - kStampSize) && digits[-1] >= '0' &&
         digits[-1] <= '9')
    --digits;
  const char* const tail = digits - kStampSize;
  const auto size = static_cast<std::size_t>(end - tail);
  if (size < kLeastTail || std::memcmp(tail, kStamp, kStampSize) != 0) return false;
  std::int64_t timestamp = 0;
  // A number that JSON would not take is for others to judge.
  if (*digits == '0' || std::from_chars(digits, end, timestamp).ptr != end) return false;
  const std::array<std::uint64_t, 3> words = {word_at(tail), word_at(tail + 8), word_at(end - 8)};
  if (size == tail_size_ && words == tail_) return false;
  tail_ = words;
  tail_size_ = size;
  timestamp_ = timestamp;
  return true;
}

std::size_t PlainJsonReader::read(const std::uint8_t*& at, const std::uint8_t* const end,
                                  std::span<PlainJsonRecord> block) {
  std::size_t count = 0;
  for (; count < block.size(); ++count) {
    const auto left = static_cast<std::size_t>(end - at);
    std::size_t size = 0;
    if (!read_one(at, left, size, block[count]) &&
        (!learn_tail(at, left) || !read_one(at, left, size, block[count])))
      break;
    at += size;
  }
  return count;
}

}  // namespace tk
