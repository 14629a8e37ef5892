// Values of the command line: where to start and stop, times, sizes, numbers, escapes. A text is refused as a
// usage error or means something that prints and reads the same.
#include <fmt/format.h>

#include "cli/parse_types.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "tests/fuzz/fuzz.h"

namespace tk::fuzz {
namespace {

constexpr std::int64_t kNow = 1700000000000;

/// What `parse` makes of a text; nothing if it is refused, which must be as a usage error.
template <class Parse>
auto attempt(Parse&& parse) -> std::optional<decltype(parse())> {
  try {
    return parse();
  } catch (const Error& error) {
    require(exit_code(error.code()) == 2 && !error.message().empty(), "a value is refused as a usage error");
    return std::nullopt;
  }
}

void check_places(const std::string& text) {
  using Kind = OffsetSpec::Kind;
  if (const auto spec = attempt([&] { return cli::parse_offset_spec(text, kNow); })) {
    std::string printed = spec->kind == Kind::beginning ? "beginning" : "end";
    if (spec->kind == Kind::at) printed = std::to_string(spec->value);
    if (spec->kind == Kind::last) printed = "-" + std::to_string(spec->value);
    if (spec->kind == Kind::time) printed = "@" + std::to_string(spec->value);
    const OffsetSpec again = cli::parse_offset_spec(printed, kNow);
    require(again.kind == spec->kind && again.value == spec->value, "a place reads the same after printing");
    require(spec->kind == Kind::time || spec->value >= 0, "offsets and counts are not negative");
  }
  if (const auto until = attempt([&] { return cli::parse_until(text, kNow); })) {
    std::string printed = "end";
    if (until->kind == UntilSpec::Kind::offset) printed = std::to_string(until->value);
    if (until->kind == UntilSpec::Kind::time) printed = "@" + std::to_string(until->value);
    const UntilSpec again = cli::parse_until(printed, kNow);
    require(again.kind == until->kind && again.value == until->value, "an end reads the same after printing");
  }
  if (const auto range = attempt([&] { return cli::parse_offset_range(text); })) {
    const auto side = [](const std::optional<std::int64_t>& at) { return at ? std::to_string(*at) : ""; };
    require(cli::parse_offset_range(side(range->first) + ":" + side(range->second)) == *range,
            "a range reads the same after printing");
  }
}

void check_times(const std::string& text) {
  const auto time = parse_time(text, kNow);
  const auto value = attempt([&] { return cli::parse_time_value(text, kNow); });
  require(time == value, "a time is a time for options, too");
  if (!time) return;
  constexpr std::int64_t kYear0 = -62167219200000, kYear10000 = 253402300800000;
  if (*time >= kYear0 && *time < kYear10000) {
    require(parse_time(format_time(*time), kNow) == time, "a time reads the same after printing it");
  } else {
    require(!format_time(*time).empty(), "every time can be printed");
  }
}

void check_numbers(const std::string& text) {
  if (const auto number = parse_int(text)) {
    require(parse_int(std::to_string(*number)) == number, "a number reads the same after printing it");
  }
  if (const auto size = parse_size(text)) {
    require(*size >= 0 && parse_size(std::to_string(*size)) == size, "so does a size");
  }
  (void)attempt([&] { return cli::parse_number(text); });
  (void)attempt([&] { return cli::parse_partition(text); });
  (void)attempt([&] { return cli::parse_partition_count(text); });
  (void)attempt([&] { return cli::parse_bytes(text); });
  if (const auto compression = attempt([&] { return cli::parse_compression_value(text); })) {
    const int level = compression->level.value_or(0);
    require(!compression->level || codec_takes_level(compression->codec, level), "levels are the codec's");
  }
}

void check_texts(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  require(cli::parse_escapes(escaped) == text, "every byte has an escape");
  if (const auto bytes = attempt([&] { return cli::parse_escapes(text); })) {
    require(bytes->size() <= text.size(), "an escape is no longer than what it stands for");
  }
  const auto config = attempt([&] { return cli::parse_config(text); });
  if (config) require(config->key + "=" + config->value == text, "a setting is its two parts");
  const auto header = attempt([&] { return cli::parse_header(text); });
  require(!config || header, "what is a setting can be a header");
  std::string joined;
  for (const std::string& part : cli::split_commas(text)) joined += "," + part;
  require(joined.substr(1) == text, "parts make up the whole");
  (void)printable(text);
  TextBuffer base64;
  append_base64(base64, text);
  require(decode_base64({base64.data(), base64.size()}) == text, "base64 keeps every byte");
  if (const auto decoded = decode_base64(text)) {
    base64.clear();
    append_base64(base64, *decoded);
    require(std::string_view(base64.data(), base64.size()) == text, "one base64 text for the same bytes");
  }
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  tk::fuzz::check_places(text);
  tk::fuzz::check_times(text);
  tk::fuzz::check_numbers(text);
  tk::fuzz::check_texts(text);
  return 0;
}
