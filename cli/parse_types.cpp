#include "cli/parse_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/text.h"

namespace tk::cli {
namespace {

constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<int> hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// Digits only: an offset has no sign of its own, "-5" and "+5" would mean something else.
std::optional<std::int64_t> parse_digits(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  return parse_int(text);
}

// The escape whose backslash is at text[at]; moves `at` to its last character.
char resolve_escape(const std::string& text, std::size_t& at) {
  const char kind = at + 1 < text.size() ? text[at + 1] : '\0';
  if (kind == 'x') {
    const auto high = at + 2 < text.size() ? hex_digit(text[at + 2]) : std::nullopt;
    const auto low = at + 3 < text.size() ? hex_digit(text[at + 3]) : std::nullopt;
    if (!high || !low) usage_error("\\x wants two hex digits, as in \\x1f");
    at += 3;
    return static_cast<char>(*high * 16 + *low);
  }
  ++at;
  switch (kind) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case '0':
      return '\0';
    case '\\':
      return '\\';
    default:
      usage_error("unknown escape; there are \\n \\t \\r \\0 \\\\ and \\xNN");
  }
}

FormatPart::Kind token_kind(char token) {
  using Kind = FormatPart::Kind;
  constexpr std::array<std::pair<char, Kind>, 9> kTokens = {{{'t', Kind::topic},
                                                             {'p', Kind::partition},
                                                             {'o', Kind::offset},
                                                             {'k', Kind::key},
                                                             {'K', Kind::key_length},
                                                             {'s', Kind::value},
                                                             {'S', Kind::value_length},
                                                             {'T', Kind::timestamp},
                                                             {'h', Kind::headers}}};
  for (const auto& [name, kind] : kTokens) {
    if (name == token) return kind;
  }
  usage_error("unknown token; there are %t %p %o %k %K %s %S %T %h and %%");
}

}  // namespace

void usage_error(std::string message) {
  throw Error(ErrorCode::invalid_request, std::move(message));
}

std::int64_t parse_number(const std::string& text, std::int64_t least, std::int64_t most) {
  const auto number = parse_int(text);
  if (number && *number >= least && *number <= most) return *number;
  if (most == std::numeric_limits<std::int64_t>::max()) {
    usage_error(fmt::format("'{}' is not a whole number of at least {}", text, least));
  }
  usage_error(fmt::format("'{}' is not a whole number from {} to {}", text, least, most));
}

std::int32_t parse_partition(const std::string& text) {
  return static_cast<std::int32_t>(parse_number(text, 0, kMaxInt32));
}

std::int32_t parse_partition_count(const std::string& text) {
  const auto number = parse_int(text);
  if (number && *number >= 1 && *number <= kMaxInt32) return static_cast<std::int32_t>(*number);
  throw Error(ErrorCode::invalid_partitions,
              fmt::format("'{}' is not a number of partitions, 1 to {}", text, kMaxInt32));
}

std::int64_t parse_bytes(const std::string& text) {
  const auto size = parse_size(text);
  if (size && *size >= 1 && *size <= kMaxInt32) return *size;
  usage_error(fmt::format("'{}' is not a size from 1 byte to {}; K, M and G are taken", text, kMaxInt32));
}

std::int64_t parse_time_value(const std::string& text, std::int64_t now_ms) {
  if (const auto time = parse_time(text, now_ms)) return *time;
  usage_error(fmt::format("'{}' is not a time: epoch ms, 2026-11-29T10:00:00Z, or -15m", text));
}

std::int64_t parse_duration_value(const std::string& text) {
  if (const auto duration = parse_duration(text)) return *duration;
  usage_error(fmt::format("'{}' is not a length of time: PT10S, or 10s, 15m, 2h, 7d", text));
}

OffsetSpec parse_offset_spec(const std::string& text, std::int64_t now_ms) {
  using Kind = OffsetSpec::Kind;
  if (text == "beginning" || text == "earliest") return {Kind::beginning, 0};
  if (text == "end" || text == "latest") return {Kind::end, 0};
  if (text == "stored") return {Kind::stored, 0};
  if (text.starts_with('@')) return {Kind::time, parse_time_value(text.substr(1), now_ms)};
  if (const auto offset = parse_digits(text)) return {Kind::at, *offset};
  if (text.starts_with('-')) {
    if (const auto count = parse_digits(std::string_view(text).substr(1))) return {Kind::last, *count};
  }
  usage_error(fmt::format("'{}' is not a place to start: beginning, end, stored, N, -N or @TIME", text));
}

ResetPolicy parse_reset_policy(const std::string& text) {
  using Kind = ResetPolicy::Kind;
  constexpr std::string_view duration = "by_duration:";
  if (text == "earliest") return {Kind::earliest, 0};
  if (text == "latest") return {Kind::latest, 0};
  if (text == "none") return {Kind::none, 0};
  if (text.starts_with(duration))
    return {Kind::by_duration, parse_duration_value(text.substr(duration.size()))};
  usage_error(fmt::format("'{}' is not earliest, latest, none or by_duration:D", text));
}

UntilSpec parse_until(const std::string& text, std::int64_t now_ms) {
  using Kind = UntilSpec::Kind;
  if (text == "end") return {Kind::end, 0};
  if (text.starts_with('@')) return {Kind::time, parse_time_value(text.substr(1), now_ms)};
  if (const auto offset = parse_digits(text)) return {Kind::offset, *offset};
  usage_error(fmt::format("'{}' is not a place to stop: end, an offset, or @TIME", text));
}

std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>> parse_offset_range(
    const std::string& text) {
  const auto colon = text.find(':');
  const auto side = [&](const std::string& part) -> std::optional<std::int64_t> {
    if (part.empty()) return std::nullopt;
    if (const auto offset = parse_digits(part)) return offset;
    usage_error(fmt::format("'{}' is not a range of offsets A:B", text));
  };
  if (colon == std::string::npos) usage_error(fmt::format("'{}' is not a range of offsets A:B", text));
  const auto from = side(text.substr(0, colon));
  const auto to = side(text.substr(colon + 1));
  if (from && to && *from > *to) usage_error(fmt::format("'{}': the range ends before it begins", text));
  return {from, to};
}

Compression parse_compression_value(const std::string& text) {
  if (const auto compression = parse_compression(text)) return *compression;
  usage_error(
      fmt::format("'{}' is not a codec: none, gzip, snappy, lz4 or zstd, and a level as in zstd:3", text));
}

ConfigSetting parse_config(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) usage_error(fmt::format("'{}' is not KEY=VALUE", text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

ProduceOptions::Header parse_header(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) usage_error(fmt::format("'{}' is not NAME=VALUE", text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

TransactionName parse_transaction(const std::string& text) {
  const std::size_t at = text.rfind('@');
  const auto epoch =
      at == std::string::npos ? std::nullopt : parse_digits(std::string_view(text).substr(at + 1));
  if (text.empty() || at == 0) usage_error("'" + text + "' is no ID or ID@EPOCH");
  if (!epoch) return {text, {}};
  if (*epoch > std::numeric_limits<std::int16_t>::max()) usage_error("an epoch is from 0 to 32767");
  return {text.substr(0, at), static_cast<std::int16_t>(*epoch)};
}

std::string parse_escapes(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    out += text[at] == '\\' ? resolve_escape(text, at) : text[at];
  }
  return out;
}

std::vector<FormatPart> parse_output_format(const std::string& text) {
  std::vector<FormatPart> parts;
  const auto literal = [&](char c) {
    if (parts.empty() || parts.back().kind != FormatPart::Kind::literal) parts.emplace_back();
    parts.back().text += c;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\') {
      literal(resolve_escape(text, at));
    } else if (text[at] != '%') {
      literal(text[at]);
    } else if (++at < text.size() && text[at] == '%') {
      literal('%');
    } else {
      parts.push_back({token_kind(at < text.size() ? text[at] : '\0'), {}});
    }
  }
  return parts;
}

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const auto comma = text.find(',', begin);
    parts.push_back(text.substr(begin, comma - begin));
    if (comma == std::string::npos) return parts;
    begin = comma + 1;
  }
}

}  // namespace tk::cli
