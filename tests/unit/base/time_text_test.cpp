#include <doctest/doctest.h>

#include <limits>

#include "core/base/text.h"

using namespace tk;

namespace {
constexpr std::int64_t kNow = 1'800'000'000'000;
constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
}  // namespace

// The seconds since the epoch are those that GNU date gives.
TEST_SUITE("base.time_text") {
  TEST_CASE("epoch milliseconds") {
    CHECK(parse_time("0", kNow) == 0);
    CHECK(parse_time("1700000000123", kNow) == 1700000000123);
    CHECK(parse_time("-1", kNow) == -1);
  }

  TEST_CASE("ISO-8601") {
    CHECK(parse_time("2026-11-29T10:00:00Z", kNow) == 1795946400000);
    CHECK(parse_time("2026-11-29T10:00:00", kNow) == 1795946400000);  // no zone: UTC
    CHECK(parse_time("2026-11-29 10:00:00", kNow) == 1795946400000);
    CHECK(parse_time("2026-11-29T10:00", kNow) == 1795946400000);
    CHECK(parse_time("2026-11-29T10:00Z", kNow) == 1795946400000);
    CHECK(parse_time("2026-11-29", kNow) == 1795910400000);
    CHECK(parse_time("2023-11-15T03:43:20.100+05:30", kNow) == 1700000000100);
    CHECK(parse_time("2023-11-14T17:13:20.100-05:00", kNow) == 1700000000100);
    CHECK(parse_time("2023-11-15T03:43:20+0530", kNow) == 1700000000000);
    CHECK(parse_time("2023-11-15T00:13:20+02", kNow) == 1700000000000);
    CHECK(parse_time("2026-11-29T10:00:00.5Z", kNow) == 1795946400500);
    CHECK(parse_time("2026-11-29T10:00:00.123456789Z", kNow) == 1795946400123);
    CHECK(parse_time("2024-02-29T00:00:00Z", kNow) == 1709164800000);
    CHECK(parse_time("1969-12-31T23:59:59Z", kNow) == -1000);
    CHECK(parse_time("9999-12-31T23:59:59Z", kNow) == 253402300799000);
    CHECK(parse_time("0001-01-01T00:00:00Z", kNow) == -62135596800000);
  }

  TEST_CASE("times ago") {
    CHECK(parse_time("-15m", kNow) == kNow - 900'000);
    CHECK(parse_time("-2h", kNow) == kNow - 7'200'000);
    CHECK(parse_time("-7d", kNow) == kNow - 604'800'000);
    CHECK(parse_time("-30s", kNow) == kNow - 30'000);
    CHECK(parse_time("-10ms", kNow) == kNow - 10);
    CHECK(parse_time("-0s", kNow) == kNow);
    CHECK(parse_time("-9223372036854775807ms", 0) == -kMax);
    CHECK_FALSE(parse_time("-9223372036854775807ms", -2));
    CHECK_FALSE(parse_time("-106751991168d", kNow));
  }

  TEST_CASE("nonsense is refused") {
    for (const char* text : {"",
                             "-",
                             "now",
                             "-m",
                             "15m",
                             "+15m",
                             "-1.5h",
                             "-15M",
                             "-15mm",
                             "--15m",
                             "- 15m",
                             "2026-13-01",
                             "2026-00-01",
                             "2026-11-31",
                             "2026-11-00",
                             "2023-02-29",
                             "1900-02-29",
                             "2026-1-1",
                             "26-11-29",
                             "2026/11/29",
                             "2026-11-29T",
                             "2026-11-29T10",
                             "2026-11-29T24:00:00Z",
                             "2026-11-29T10:60:00Z",
                             "2026-11-29T10:00:60Z",
                             "2026-11-29T10:00:00.Z",
                             "2026-11-29T10:00:00ZZ",
                             "2026-11-29T10:00:00+5",
                             "2026-11-29T10:00:00+05:3",
                             "2026-11-29T10:00:00+05:60",
                             "2026-11-29T10:00:00+24:00",
                             "2026-11-29T10:00:00+05:30 ",
                             " 2026-11-29",
                             "2026-11-29Z",
                             "9223372036854775808"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_time(text, kNow));
    }
  }

  TEST_CASE("writing") {
    CHECK(format_time(0) == "1970-01-01T00:00:00.000Z");
    CHECK(format_time(1795946400123) == "2026-11-29T10:00:00.123Z");
    CHECK(format_time(-1) == "1969-12-31T23:59:59.999Z");
    CHECK(format_time(946684800000) == "2000-01-01T00:00:00.000Z");
    CHECK(format_time(946684799999) == "1999-12-31T23:59:59.999Z");
    CHECK(format_time(1709164800000) == "2024-02-29T00:00:00.000Z");
    CHECK(format_time(253402300799999) == "9999-12-31T23:59:59.999Z");
    CHECK(format_time(253402300800000) == "+10000-01-01T00:00:00.000Z");
    CHECK(format_time(-62135596800000) == "0001-01-01T00:00:00.000Z");
    CHECK(format_time(kMax) == "+292278994-08-17T07:12:55.807Z");
    CHECK(format_time(kMin) == "-292275055-05-16T16:47:04.192Z");
  }

  TEST_CASE("what is written is read back") {
    for (std::int64_t ms = -60'000'000'000'000; ms < 250'000'000'000'000; ms += 1'234'567'890'123) {
      CHECK(parse_time(format_time(ms), 0) == ms);
    }
  }
}

TEST_CASE("durations: ISO-8601, or a number with a unit") {
  const std::pair<const char*, std::int64_t> good[] = {
      {"PT10S", 10000},
      {"PT0.5S", 500},
      {"PT1H30M", 5400000},
      {"P1D", 86400000},
      {"P1DT2H3M4.005S", 93784005},
      {"PT0S", 0},
      {"P0D", 0},
      {"10s", 10000},
      {"500ms", 500},
      {"15m", 900000},
      {"2h", 7200000},
      {"7d", 604800000},
      {"0s", 0},
      {"PT36H", 129600000},
  };
  for (const auto& [text, ms] : good) {
    CAPTURE(text);
    CHECK(parse_duration(text) == ms);
  }
  for (const char* bad : {"",
                          "P",
                          "PT",
                          "P1",
                          "PT1",
                          "-PT1S",
                          "PT-1S",
                          "P1Y",
                          "P1M",
                          "PT1.5H",
                          "PT1S2M",
                          "PT1S1S",
                          "P1DT",
                          "1",
                          "s",
                          "-5s",
                          "5x",
                          "5 s",
                          "PT.5S",
                          "P1H",
                          "PT1D",
                          "9223372036854775807d",
                          "PT9223372036854775807S"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_duration(bad));
  }
}
