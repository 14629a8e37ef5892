#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "core/base/json_writer.h"

using namespace tk;
using namespace std::string_literals;

namespace {

std::string json_string(std::string_view text) {
  TextBuffer buffer;
  append_json_string(buffer, text);
  return {buffer.begin(), buffer.end()};
}

std::string bytes_member(std::optional<std::string_view> bytes) {
  TextBuffer buffer;
  append_json_bytes_member(buffer, "value", bytes);
  return {buffer.begin(), buffer.end()};
}

// Byte by byte, as the header says it.
std::string slow_json_string(std::string_view text) {
  const std::string shorts = "\n\t\r\b\f\"\\", letters = "ntrbf\"\\";
  std::string out = "\"";
  for (const char c : text) {
    const std::size_t which = shorts.find(c);
    if (which != std::string::npos) {
      out += {'\\', letters[which]};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += {'\\', 'u', '0', '0', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]};
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

TEST_SUITE("base.json_writer") {
  TEST_CASE("strings") {
    CHECK(json_string("") == R"("")");
    CHECK(json_string("plain") == R"("plain")");
    CHECK(json_string("say \"hi\" \\ /") == R"("say \"hi\" \\ /")");
    CHECK(json_string("\n\t\r\b\f") == R"("\n\t\r\b\f")");
    CHECK(json_string("\0\x01\x1f\x7f"s) == "\"\\u0000\\u0001\\u001f\x7f\"");
    CHECK(json_string("gr\xC3\xBC\xC3\x9F") == "\"gr\xC3\xBC\xC3\x9F\"");
  }

  TEST_CASE("every byte at every place of texts of every size up to four chunks") {
    for (std::size_t size = 1; size < 66; ++size) {
      for (std::size_t place = 0; place < size; ++place) {
        for (const char c : "\"\\\n\0\x1f\x20\x7f\x80\xff"s) {
          std::string text(size, 'x');
          text[place] = c;
          if (json_string(text) != slow_json_string(text))
            FAIL(size << " " << place << " " << static_cast<int>(c));
        }
      }
    }
  }

  TEST_CASE("random texts, dense and sparse in what must be escaped, behind what the buffer holds already") {
    std::mt19937 random(5);
    for (int round = 0; round < 3000; ++round) {
      std::string text(random() % 300, ' ');
      const auto density = 1 + random() % 40;
      for (char& c : text) {
        c = random() % density == 0 ? "\"\\\n\t\0\x02\x1f"[random() % 7]
                                    : static_cast<char>(0x20 + random() % 95);
      }
      TextBuffer buffer(random() % 50, '#');
      const std::string before(buffer.begin(), buffer.end());
      append_json_string(buffer, text);
      const std::string after(buffer.begin(), buffer.end());
      REQUIRE(after == before + slow_json_string(text));
      REQUIRE(nlohmann::json::parse(after.substr(before.size())).get<std::string>() == text);
    }
  }

  TEST_CASE("controls alone take six times their size") {
    const std::string text(5000, '\1');
    CHECK(json_string(text) == slow_json_string(text));
  }

  TEST_CASE("keys and values that are bytes") {
    CHECK(bytes_member(std::nullopt) == R"("value":null)");
    CHECK(bytes_member("") == R"("value":"")");
    CHECK(bytes_member("a\"b") == R"("value":"a\"b")");
    CHECK(bytes_member("\xC3\xBC") == "\"value\":\"\xC3\xBC\"");
    CHECK(bytes_member("\xff\xfe\xfb") == R"("value_b64":"//77")");
    CHECK(bytes_member("foob\xC3") == R"("value_b64":"Zm9vYsM=")");
  }

  TEST_CASE("a line has its members in the order of the calls") {
    TextBuffer buffer;
    JsonLine line(buffer);
    line.number("n", -5).number_or_null("m", 7).number_or_null("o", std::nullopt).text("t", "x\ny");
    line.text_or_null("u", "v").text_or_null("w", std::nullopt).boolean("yes", true).boolean("no", false);
    line.null("z").raw("r", "[1,2]").bytes("k", "key").bytes("v", "\xff").bytes("x", std::nullopt);
    line.end();
    CHECK(std::string(buffer.begin(), buffer.end()) ==
          "{\"n\":-5,\"m\":7,\"o\":null,\"t\":\"x\\ny\",\"u\":\"v\",\"w\":null,\"yes\":true,\"no\":false,"
          "\"z\":null,\"r\":[1,2],\"k\":\"key\",\"v_b64\":\"/w==\",\"x\":null}\n");
  }

  TEST_CASE("a line without members, and a line after a line") {
    TextBuffer buffer;
    JsonLine(buffer).end();
    JsonLine(buffer).bytes("k", "").number("n", 1).end();
    CHECK(std::string(buffer.begin(), buffer.end()) == "{}\n{\"k\":\"\",\"n\":1}\n");
  }

  TEST_CASE("text that is not UTF-8 gets one U+FFFD for each piece that broke off") {
    const std::string mark = "\xEF\xBF\xBD";
    const auto text = [](std::string_view value) {
      TextBuffer buffer;
      JsonLine(buffer).text("t", value).end();
      const std::string line(buffer.begin(), buffer.end());
      CHECK(nlohmann::json::accept(line));
      return line.substr(6, line.size() - 9);
    };
    CHECK(text("ok") == "ok");
    CHECK(text("a\xff"
               "b") == "a" + mark + "b");
    CHECK(text("\xff\xff") == mark + mark);
    CHECK(text("\xC3") == mark);
    CHECK(text("x\xE2\x82") == "x" + mark);  // the beginning of a sequence counts as one piece
    CHECK(text("\xE2\x82"
               "\"\xC3\xBC") == mark + "\\\"\xC3\xBC");
    CHECK(text("\xF0\x9F\x98"
               "a\n") == mark + "a\\n");
    CHECK(text("\xED\xA0\x80") == mark + mark + mark);  // a surrogate: no byte of it begins a sequence
    CHECK(text("\xC0\xAF") == mark + mark);
    CHECK(text("\xF0\x8F\xBF\xBF") == mark + mark + mark + mark);  // overlong
  }
}
