#include "cli/parse_types.h"

#include <doctest/doctest.h>

#include "core/base/error.h"

using namespace tk;
using namespace tk::cli;

namespace {

constexpr std::int64_t kNow = 1700000000000;

// The code of the usage error that `action` throws.
template <class F>
ErrorCode refused(F action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  FAIL("nothing was thrown");
  return ErrorCode::storage_error;
}

}  // namespace

TEST_CASE("reset policies") {
  using Kind = ResetPolicy::Kind;
  CHECK(parse_reset_policy("earliest").kind == Kind::earliest);
  CHECK(parse_reset_policy("latest").kind == Kind::latest);
  CHECK(parse_reset_policy("none").kind == Kind::none);
  CHECK(parse_reset_policy("by_duration:PT10S").kind == Kind::by_duration);
  CHECK(parse_reset_policy("by_duration:PT10S").duration_ms == 10000);
  CHECK(parse_reset_policy("by_duration:2h").duration_ms == 7200000);
  for (const char* text :
       {"", "Earliest", "by_duration", "by_duration:", "by_duration:-PT1S", "by_duration:x"}) {
    CAPTURE(text);
    CHECK(refused([&] { parse_reset_policy(text); }) == ErrorCode::invalid_request);
  }
}
TEST_CASE("offset specs") {
  using Kind = OffsetSpec::Kind;
  const auto is = [](const char* text, Kind kind, std::int64_t value) {
    const OffsetSpec spec = parse_offset_spec(text, kNow);
    return spec.kind == kind && spec.value == value;
  };
  CHECK(is("beginning", Kind::beginning, 0));
  CHECK(is("earliest", Kind::beginning, 0));
  CHECK(is("end", Kind::end, 0));
  CHECK(is("latest", Kind::end, 0));
  CHECK(is("stored", Kind::stored, 0));
  CHECK(is("0", Kind::at, 0));
  CHECK(is("9223372036854775807", Kind::at, 9223372036854775807));
  CHECK(is("-5", Kind::last, 5));
  CHECK(is("-0", Kind::last, 0));
  CHECK(is("@1700000000123", Kind::time, 1700000000123));
  CHECK(is("@2023-11-14T22:13:20Z", Kind::time, 1700000000000));
  CHECK(is("@-15m", Kind::time, kNow - 15 * 60 * 1000));
  for (const char* text :
       {"", "-", "--5", "+5", "5x", "@", "@x", "9223372036854775808", "-15m", "begin", "store"}) {
    CAPTURE(text);
    CHECK(refused([&] { parse_offset_spec(text, kNow); }) == ErrorCode::invalid_request);
  }
}

TEST_CASE("until specs") {
  using Kind = UntilSpec::Kind;
  CHECK(parse_until("end", kNow).kind == Kind::end);
  CHECK(parse_until("7", kNow).kind == Kind::offset);
  CHECK(parse_until("7", kNow).value == 7);
  CHECK(parse_until("@-2h", kNow).kind == Kind::time);
  CHECK(parse_until("@-2h", kNow).value == kNow - 7200000);
  CHECK(refused([] { parse_until("-7", kNow); }) == ErrorCode::invalid_request);
}

TEST_CASE("offset ranges") {
  using Range = std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>;
  CHECK(parse_offset_range("3:9") == Range(3, 9));
  CHECK(parse_offset_range("3:") == Range(3, std::nullopt));
  CHECK(parse_offset_range(":9") == Range(std::nullopt, 9));
  CHECK(parse_offset_range(":") == Range());
  CHECK(parse_offset_range("4:4") == Range(4, 4));
  for (const char* text : {"", "3", "9:3", "a:b", "1:2:3", "-1:2"}) {
    CAPTURE(text);
    CHECK(refused([&] { parse_offset_range(text); }) == ErrorCode::invalid_request);
  }
}

TEST_CASE("numbers and sizes") {
  CHECK(parse_number("12") == 12);
  CHECK(parse_number("-3", -3) == -3);
  CHECK(refused([] { parse_number("-1"); }) == ErrorCode::invalid_request);
  CHECK(refused([] { parse_number(" 1"); }) == ErrorCode::invalid_request);
  CHECK(parse_partition("2147483647") == 2147483647);
  CHECK(refused([] { parse_partition("2147483648"); }) == ErrorCode::invalid_request);
  CHECK(parse_partition_count("1") == 1);
  CHECK(refused([] { parse_partition_count("0"); }) == ErrorCode::invalid_partitions);
  CHECK(parse_bytes("16K") == 16384);
  CHECK(parse_bytes("1M") == 1048576);
  CHECK(refused([] { parse_bytes("0"); }) == ErrorCode::invalid_request);
  CHECK(refused([] { parse_bytes("2G"); }) == ErrorCode::invalid_request);
}

TEST_CASE("escapes") {
  CHECK(parse_escapes("a\\n\\t\\r\\\\b") == "a\n\t\r\\b");
  CHECK(parse_escapes("\\x1f\\xFF") == "\x1f\xff");
  CHECK(parse_escapes("\\0") == std::string(1, '\0'));
  CHECK(parse_escapes("").empty());
  for (const char* text : {"\\", "\\q", "\\x", "\\x1", "\\xg0"}) {
    CAPTURE(text);
    CHECK(refused([&] { parse_escapes(text); }) == ErrorCode::invalid_request);
  }
}

TEST_CASE("output formats") {
  using Kind = FormatPart::Kind;
  const auto parts = parse_output_format("%t-%p %%%k=%s\\n");
  REQUIRE(parts.size() == 8);
  CHECK(parts[0].kind == Kind::topic);
  CHECK(parts[1].text == "-");
  CHECK(parts[2].kind == Kind::partition);
  CHECK(parts[3].text == " %");
  CHECK(parts[4].kind == Kind::key);
  CHECK(parts[5].text == "=");
  CHECK(parts[6].kind == Kind::value);
  CHECK(parts[7].text == "\n");
  CHECK(parse_output_format("%K%S%o%T%h").size() == 5);
  CHECK(refused([] { parse_output_format("%"); }) == ErrorCode::invalid_request);
  CHECK(refused([] { parse_output_format("%q"); }) == ErrorCode::invalid_request);
}

TEST_CASE("pairs and lists") {
  CHECK(parse_config("a.b=1=2").key == "a.b");
  CHECK(parse_config("a.b=1=2").value == "1=2");
  CHECK(parse_config("a=").value.empty());
  CHECK(refused([] { parse_config("a"); }) == ErrorCode::invalid_request);
  CHECK(refused([] { parse_config("=1"); }) == ErrorCode::invalid_request);
  CHECK(parse_header("=v").name.empty());
  CHECK(split_commas("a, b,,c") == std::vector<std::string>{"a", " b", "", "c"});
}
