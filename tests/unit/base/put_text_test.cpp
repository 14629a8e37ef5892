#include "core/base/put_text.h"

#include <doctest/doctest.h>

#include <cstdio>
#include <random>
#include <string>

#include "core/base/json_escape.h"
#include "core/base/short_copy.h"

using namespace tk;

namespace {

std::string number(std::int64_t value) {
  std::string text(kMaxDigits, '?');
  text.resize(static_cast<std::size_t>(put_number(text.data(), value) - text.data()));
  return text;
}

/// Escapes byte by byte, as RFC 8259 has it.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    char unicode[8];
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          std::snprintf(unicode, sizeof unicode, "\\u%04x", c);
          out += unicode;
        } else {
          out += c;
        }
    }
  }
  return out;
}

}  // namespace

TEST_SUITE("base.put_text") {
  TEST_CASE("numbers as the standard library prints them") {
    for (const std::int64_t value : {std::int64_t{0}, INT64_MAX, INT64_MIN, std::int64_t{-1}}) {
      CHECK(number(value) == std::to_string(value));
    }
    for (std::int64_t power = 1; power < INT64_MAX / 10; power *= 10) {
      for (const std::int64_t value : {power - 1, power, power + 1, -power, 1 - power, 7 * power}) {
        CHECK(number(value) == std::to_string(value));
      }
    }
    for (unsigned bit = 0; bit < 63; ++bit) {
      const std::int64_t value = std::int64_t{1} << bit;
      CHECK(number(value) == std::to_string(value));
      CHECK(number(value - 1) == std::to_string(value - 1));
    }
  }

  TEST_CASE("eight hexadecimal digits there and back") {
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
      const auto value = static_cast<std::uint32_t>(i < 32 ? 1U << i : i == 32 ? 0 : random());
      char expected[9], text[9] = {};
      std::snprintf(expected, sizeof expected, "%08x", value);
      REQUIRE(put_hex32(text, value) == text + 8);
      REQUIRE(std::string(text) == expected);
      REQUIRE(read_hex32(text) == value);
      std::snprintf(expected, sizeof expected, "%08X", value);
      REQUIRE(read_hex32(expected) == value);
    }
  }

  TEST_CASE("anything but a hexadecimal digit is refused, at every place") {
    for (int place = 0; place < 8; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        char text[] = "09afAF31";
        text[place] = static_cast<char>(byte);
        const bool digit =
            (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F');
        CAPTURE(place);
        CAPTURE(byte);
        REQUIRE(read_hex32(text).has_value() == digit);
      }
    }
  }

  TEST_CASE("a short copy copies all and nothing else, whatever the size") {
    for (std::size_t size = 0; size < 600; ++size) {
      std::string from(size, '\0'), to(size + 64, '.');
      for (std::size_t i = 0; i < size; ++i) from[i] = static_cast<char>('a' + i % 23);
      copy_short(to.data() + 32, from.data(), size);
      REQUIRE(to == std::string(32, '.') + from + std::string(32, '.'));
    }
  }

  TEST_CASE("JSON escapes, for texts of every size and mixture") {
    std::mt19937 random(11);
    constexpr std::string_view specials = "\"\\\n\r\t\b\f\x01\x1f\x7f";
    for (int round = 0; round < 4000; ++round) {
      std::string text(random() % 120, 'x');
      const auto every = 1 + random() % 60;
      bool high = false;
      for (char& c : text) {
        c = static_cast<char>(' ' + random() % 95);
        if (random() % every == 0) c = specials[random() % specials.size()];
        if (round % 5 == 0 && random() % 50 == 0) c = '\xc3';
        high |= c == '\xc3';
      }
      const std::string expected = escaped(text);
      std::string out(json_escaped_bound(text.size()), '?');
      bool non_ascii = false;
      out.resize(static_cast<std::size_t>(put_json_escaped(out.data(), text, non_ascii) - out.data()));
      REQUIRE(out == expected);
      REQUIRE(non_ascii == high);
    }
  }
}
