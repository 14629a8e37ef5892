#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "core/base/text.h"
#include "core/base/utf8.h"

using namespace tk;
using namespace std::string_literals;

namespace {

constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
constexpr auto kMin = std::numeric_limits<std::int64_t>::min();

std::string text_of(const TextBuffer& buffer) {
  return {buffer.begin(), buffer.end()};
}

std::string number_text(std::int64_t number) {
  TextBuffer buffer;
  append_number(buffer, number);
  return text_of(buffer);
}

std::string base64(std::string_view bytes) {
  TextBuffer buffer;
  append_base64(buffer, bytes);
  return text_of(buffer);
}

// The shortest encoding of a code point, from the table of RFC 3629 section 3.
std::string encoded(std::uint32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

// Decodes as generously as the bit pattern allows, then asks whether the shortest encoding gives the same
// bytes back.
bool slow_is_utf8(const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[at]);
    const std::size_t size = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (size > bytes.size() - at) return false;
    std::uint32_t code = size == 1 ? lead : lead & (0x7fU >> size);
    for (std::size_t i = 1; i < size; ++i)
      code = code << 6 | (static_cast<unsigned char>(bytes[at + i]) & 0x3f);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code > 0x10FFFF || surrogate || encoded(code) != bytes.substr(at, size)) return false;
    at += size;
  }
  return true;
}

}  // namespace

TEST_SUITE("base.text") {
  TEST_CASE("numbers are written and read") {
    CHECK(number_text(0) == "0");
    CHECK(number_text(-1) == "-1");
    CHECK(number_text(kMax) == "9223372036854775807");
    CHECK(number_text(kMin) == "-9223372036854775808");
    CHECK(parse_int("0") == 0);
    CHECK(parse_int("-42") == -42);
    CHECK(parse_int("+7") == 7);
    CHECK(parse_int("007") == 7);
    CHECK(parse_int("9223372036854775807") == kMax);
    CHECK(parse_int("-9223372036854775808") == kMin);
    for (const char* text : {"", "+", "-", "+-1", "--1", " 1", "1 ", "1.0", "1e3", "0x10",
                             "9223372036854775808", "-9223372036854775809", "99999999999999999999999"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_int(text));
    }
  }

  TEST_CASE("numbers are appended to what is there") {
    TextBuffer buffer = {'a'};
    append_number(buffer, 12);
    append(buffer, "bc");
    CHECK(text_of(buffer) == "a12bc");
  }

  TEST_CASE("sizes in bytes, K, M and G") {
    CHECK(parse_size("0") == 0);
    CHECK(parse_size("16384") == 16384);
    CHECK(parse_size("4K") == 4096);
    CHECK(parse_size("3M") == 3 * 1024 * 1024);
    CHECK(parse_size("2G") == 2LL * 1024 * 1024 * 1024);
    CHECK(parse_size("8589934591G") == 8589934591LL * 1024 * 1024 * 1024);
    for (const char* text :
         {"", "K", "-1", "+1", "1T", "1KK", "1 K", "K1", "8589934592G", "9223372036854775808", "1.5M"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_size(text));
    }
  }

  TEST_CASE("nearest names") {
    const std::vector<std::string> names = {"orders", "payments", "produce", "consume", "t"};
    CHECK(nearest_name("oders", names) == "orders");     // one left out
    CHECK(nearest_name("ordesr", names) == "orders");    // two swapped
    CHECK(nearest_name("prodcue", names) == "produce");  // two swapped
    CHECK(nearest_name("konsume", names) == "consume");  // one replaced
    CHECK(nearest_name("paymentss", names) == "payments");
    CHECK(nearest_name("orders", names) == "orders");
    CHECK_FALSE(nearest_name("x", names));  // every letter is another one
    CHECK_FALSE(nearest_name("invoices", names));
    CHECK_FALSE(nearest_name("", names));
    CHECK_FALSE(nearest_name("orders", {}));
    // 6 letters allow 2 edits: the nearer name wins whatever the order, and 3 edits are too many.
    CHECK(nearest_name("abcdef", {"abxxef", "abxdef"}) == "abxdef");
    CHECK(nearest_name("abcdef", {"abxxef"}) == "abxxef");
    CHECK_FALSE(nearest_name("abcdef", {"axxxef"}));
    // A swap counts as one edit, which is all that three letters allow.
    CHECK(nearest_name("acb", {"abc"}) == "abc");
    CHECK_FALSE(nearest_name("cab", {"abc"}));
  }

  TEST_CASE("every code point is UTF-8, every surrogate is not") {
    std::string all;
    for (std::uint32_t code = 0; code <= 0x10FFFF; ++code) {
      const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
      if (is_utf8(encoded(code)) == surrogate) FAIL("code point " << code);
      if (!surrogate) all += encoded(code);
    }
    CHECK(is_utf8(all));
    CHECK(utf8_prefix(all) == all.size());
    CHECK_FALSE(is_utf8(encoded(0x110000)));
  }

  TEST_CASE("is_utf8 agrees with the definition on every mix of border bytes, wherever it stands") {
    const std::string borders = "\x7f\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xe1\xed\xf0\xf1\xf4\xf5";
    std::mt19937 random(11);
    std::size_t good = 0;
    for (std::size_t mix = 0; mix < borders.size() * borders.size() * borders.size() * borders.size();
         ++mix) {
      std::string bytes(random() % 40, 'a');
      const std::size_t front = bytes.size();
      for (std::size_t i = 0, rest = mix; i < 4; ++i, rest /= borders.size())
        bytes += borders[rest % borders.size()];
      if (mix % 3 == 0) bytes.append(random() % 20, 'z');
      const bool expected = slow_is_utf8(bytes);
      if (is_utf8(bytes) != expected) FAIL("mix " << mix);
      if (expected) ++good;
      const std::size_t prefix = utf8_prefix(bytes);
      if (prefix < front || (mix % 8 == 0 && !slow_is_utf8(bytes.substr(0, prefix))))
        FAIL("prefix of mix " << mix);
      if (expected != (prefix == bytes.size())) FAIL("prefix of mix " << mix);
    }
    // By counting: of these bytes 1 is ASCII, and they form 12 sequences of two bytes, 72 of three and 432 of
    // four, which fill four places in 1 + 3 * 12 + 12 * 12 + 2 * 72 + 432 ways.
    CHECK(good == 757);
  }

  TEST_CASE("the ASCII prefix ends at the first other byte, at every length and place") {
    CHECK(ascii_prefix("") == 0);
    for (std::size_t size = 1; size < 70; ++size) {
      const std::string plain(size, '~');
      CHECK(ascii_prefix(plain) == size);
      for (std::size_t place = 0; place < size; ++place) {
        std::string text = plain;
        text[place] = '\x80';
        text[size - 1] = place == size - 1 ? '\x80' : text[size - 1];
        if (ascii_prefix(text) != place) FAIL(size << " " << place);
      }
    }
  }

  TEST_CASE("base64: the vectors of RFC 4648 section 10, both ways") {
    const std::vector<std::pair<std::string, std::string>> vectors = {{"", ""},
                                                                      {"f", "Zg=="},
                                                                      {"fo", "Zm8="},
                                                                      {"foo", "Zm9v"},
                                                                      {"foob", "Zm9vYg=="},
                                                                      {"fooba", "Zm9vYmE="},
                                                                      {"foobar", "Zm9vYmFy"},
                                                                      {"\xff\xfe\xfb", "//77"},
                                                                      {"\0\0\0\0"s, "AAAAAA=="}};
    for (const auto& [bytes, text] : vectors) {
      CHECK(base64(bytes) == text);
      CHECK(decode_base64(text) == bytes);
    }
    std::mt19937 random(3);
    for (std::size_t size = 0; size < 200; ++size) {
      std::string bytes(size, '\0');
      for (char& byte : bytes) byte = static_cast<char>(random());
      REQUIRE(decode_base64(base64(bytes)) == bytes);
    }
  }

  TEST_CASE("malformed base64 is refused") {
    for (const char* text : {"Z", "Zg", "Zg=", "Zm8", "====", "Zg===", "Z===", "=Zg=", "Zg==Zg==", "Zm9v\n",
                             "Zm-v", "Zm_v", "Zh==", "Zm9=", "Zm 9v", "Zm9v="}) {
      CAPTURE(text);
      CHECK_FALSE(decode_base64(text));
    }
  }

  TEST_CASE("printable keeps text, shows other bytes in hex, and cuts between characters") {
    CHECK(printable("plain text") == "plain text");
    CHECK(printable("a\nb\x7f\0"s) == "a\\x0ab\\x7f\\x00");
    CHECK(printable("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80") ==
          "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80");
    CHECK(printable("\xF0\x8F\xBF\xBF") == "\\xf0\\x8f\\xbf\\xbf");  // overlong
    CHECK(printable("\xff\xC3") == "\\xff\\xc3");
    CHECK(printable("\xC2\x9B[2J") == "\\xc2\\x9b[2J");  // a control sequence for terminals
    CHECK(printable("\xE2\x80\xAE"
                    "abc") ==
          "\\xe2\\x80\\xae"
          "abc");  // turns what follows around
    CHECK(printable("0123456789", 10) == "0123456789");
    CHECK(printable("0123456789x", 10) == "0123456...");
    CHECK(printable("\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC", 11) == "\xE2\x82\xAC\xE2\x82\xAC...");
    CHECK(printable("\n\n\n\n", 15) == "\\x0a\\x0a\\x0a...");
    CHECK(printable("abcdef", 2) == "..");
    CHECK(printable("abc", 0) == "");
    CHECK(printable(std::string(1000, '\1')).size() <= 80);
  }
}
