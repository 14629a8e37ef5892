#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/base/json_reader.h"

using namespace tk;
using namespace std::string_literals;

namespace {

bool accepts(std::string_view text) {
  // A copy of its own size, so that a sanitizer sees a read behind the end.
  const std::vector<char> exact(text.begin(), text.end());
  JsonReader reader(std::string_view(exact.data(), exact.size()));
  reader.skip();
  return reader.finish();
}

struct Mistake {
  std::string error;
  std::size_t position;
};

Mistake mistake(std::string_view text) {
  JsonReader reader(text);
  reader.skip();
  REQUIRE_FALSE(reader.finish());
  return {reader.error(), reader.position()};
}

std::optional<std::string> decoded(std::string_view json) {
  JsonReader reader(json);
  std::string scratch;
  const std::string value(reader.string(scratch));
  if (!reader.finish()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> integer(std::string_view json) {
  JsonReader reader(json);
  const std::int64_t value = reader.integer();
  if (!reader.finish()) return std::nullopt;
  return value;
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

}  // namespace

TEST_SUITE("base.json_reader") {
  TEST_CASE("a record body in any order of its members") {
    JsonReader reader(
        R"( { "ts" : 1700000000123 , "value":"v\n", "x":{"deep":[1,{"y":null}]},"key":null,"txn":true } )");
    std::string_view name;
    std::string scratch, seen;
    REQUIRE(reader.enter_object());
    while (reader.next_member(name)) {
      seen += std::string(name) + ' ';
      if (name == "ts") {
        CHECK(reader.integer() == 1700000000123);
      } else if (name == "value") {
        CHECK_FALSE(reader.null());
        CHECK(reader.string(scratch) == "v\n");
      } else if (name == "key") {
        CHECK(reader.null());
      } else if (name == "txn") {
        CHECK(reader.boolean());
      } else {
        CHECK(reader.peek() == JsonType::object);
        CHECK(reader.skip() == R"({"deep":[1,{"y":null}]})");
      }
    }
    CHECK(reader.finish());
    CHECK(seen == "ts value x key txn ");
  }

  TEST_CASE("arrays, as headers have them") {
    JsonReader reader(R"({"headers":[["a","1"],["b",null],[]],"n":[]})");
    std::string_view name;
    std::string scratch, seen;
    reader.enter_object();
    while (reader.next_member(name)) {
      reader.enter_array();
      while (reader.next_element()) {
        seen += '(';
        reader.enter_array();
        while (reader.next_element()) seen += reader.null() ? "null" : std::string(reader.string(scratch));
        seen += ')';
      }
    }
    CHECK(reader.finish());
    CHECK(seen == "(a1)(bnull)()");
  }

  TEST_CASE("the type of what comes next") {
    const std::vector<std::pair<std::string, JsonType>> types = {
        {"{}", JsonType::object},     {" [", JsonType::array},  {"\"a\"", JsonType::string},
        {"-1", JsonType::number},     {"0", JsonType::number},  {"true", JsonType::boolean},
        {"false", JsonType::boolean}, {"null", JsonType::null}, {"", JsonType::invalid},
        {"  ", JsonType::invalid},    {"}", JsonType::invalid}, {"+1", JsonType::invalid}};
    for (const auto& [text, type] : types) {
      JsonReader reader(text);
      CHECK(reader.peek() == type);
      CHECK(reader.ok());
    }
  }

  TEST_CASE("strings without escapes point into the text, others into the scratch") {
    const std::string text = R"(["plain","a\tb","c\"d"])";
    JsonReader reader(text);
    std::string scratch;
    scratch.reserve(100);
    reader.enter_array();
    reader.next_element();
    const std::string_view plain = reader.string(scratch);
    CHECK(plain.data() == text.data() + 2);
    CHECK(scratch.empty());
    reader.next_element();
    const std::string_view second = reader.string(scratch);
    reader.next_element();
    const std::string_view third = reader.string(scratch);
    CHECK(second == "a\tb");
    CHECK(third == "c\"d");
    CHECK(scratch == "a\tbc\"d");
    CHECK_FALSE(reader.next_element());
    CHECK(reader.finish());
  }

  TEST_CASE("escapes") {
    CHECK(decoded(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
    CHECK(decoded(R"("\u0041\u00e4\u00E4\u20ac")") == "A\xC3\xA4\xC3\xA4\xE2\x82\xAC");
    CHECK(decoded(R"("\u0000\u007f\u0080\u07ff\u0800\uffff")") ==
          "\0\x7f\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF"s);
    CHECK(decoded(R"("\ud83d\ude00 \uD800\uDC00 \uDBFF\uDFFF")") ==
          "\xF0\x9F\x98\x80 \xF0\x90\x80\x80 \xF4\x8F\xBF\xBF");
    for (const char* text : {R"("\)",
                             R"("\")",
                             R"("\a")",
                             R"("\U0041")",
                             R"("\u")",
                             R"("\u004")",
                             R"("\u004g")",
                             R"("\u 041")",
                             R"("\u+041")",
                             R"("\u00)",
                             R"("\x41")",
                             R"("\')",
                             R"("\ud83d")",
                             R"("\ude00")",
                             R"("\ud83dx")",
                             R"("\ud83d\n")",
                             R"("\ud83d\u0041")",
                             R"("\ud83d\ud83d")",
                             R"("\ude00\ud83d")",
                             R"("\ude00\ude00")",
                             R"("\ud83d)",
                             R"("\ud83d\)",
                             R"("\ud83d\u)",
                             R"("\ud83d\ude0")"}) {
      CAPTURE(text);
      CHECK_FALSE(decoded(text));
      CHECK_FALSE(accepts(text));
    }
  }

  TEST_CASE("a member name may have escapes") {
    JsonReader reader(R"({"\u006bey":1,"\ud83d":2})");
    std::string_view name;
    reader.enter_object();
    REQUIRE(reader.next_member(name));
    CHECK(name == "key");
    CHECK(reader.integer() == 1);
    CHECK_FALSE(reader.next_member(name));
    CHECK_FALSE(reader.ok());
    CHECK(name.empty());
  }

  TEST_CASE("every byte that a string may not hold is found at every place") {
    const std::vector<std::string> bad = {"\x1f", "\n",           "\0"s,      "\x80",
                                          "\xC3", "\xED\xA0\x80", "\xC0\xAF", "\xF4\x90\x80\x80"};
    for (std::size_t size = 0; size < 50; ++size) {
      for (std::size_t place = 0; place <= size; ++place) {
        for (const std::string& piece : bad) {
          std::string text = "\"" + std::string(size, 'x') + "\"";
          text.insert(1 + place, piece);
          if (accepts(text)) FAIL(size << " " << place << " " << piece);
          if (mistake(text).position != 1 + place) FAIL(size << " " << place << " " << piece);
        }
        std::string text = "\"" + std::string(size, 'x') + "\"";
        text.insert(1 + place, "\xE2\x82\xAC\x7f");
        if (!accepts(text)) FAIL(size << " " << place);
      }
    }
  }

  TEST_CASE("whole numbers") {
    CHECK(integer("0") == 0);
    CHECK(integer("-0") == 0);
    CHECK(integer(" 12 ") == 12);
    CHECK(integer("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
    CHECK(integer("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
    for (const char* text : {"",
                             "-",
                             "+1",
                             "01",
                             "-01",
                             "00",
                             "1.0",
                             "1e3",
                             "1E3",
                             "9223372036854775808",
                             "-9223372036854775809",
                             "18446744073709551616",
                             "18446744073709551617",
                             "100000000000000000000",
                             "\"1\"",
                             "null",
                             "1 2",
                             "0x10",
                             "1a",
                             "--1"}) {
      CAPTURE(text);
      CHECK_FALSE(integer(text));
    }
  }

  TEST_CASE("what is JSON") {
    for (const char* text : {"0",
                             "-0",
                             "10",
                             "-1.5",
                             "0.0",
                             "1e5",
                             "1E+5",
                             "1.25e-07",
                             "0e0",
                             "1e999",
                             "true",
                             "false",
                             "null",
                             "\"\"",
                             "[]",
                             "{}",
                             " [ ] ",
                             "\t{\r\n}\n",
                             "[1,2]",
                             "[[],{}]",
                             R"({"":0})",
                             R"({"a":1,"a":2})",
                             R"([ 1 , "x" , null ])",
                             "\"\x7f\""}) {
      CAPTURE(text);
      CHECK(accepts(text));
    }
  }

  TEST_CASE("what is not JSON") {
    for (const char* text : {"",
                             " ",
                             "[",
                             "]",
                             "{",
                             "}",
                             "[1",
                             "[1,",
                             "[1,]",
                             "[,1]",
                             "[1 2]",
                             "[1,,2]",
                             "{,}",
                             R"({"a"})",
                             R"({"a":})",
                             R"({"a":1,})",
                             R"({"a":1 "b":2})",
                             R"({a:1})",
                             R"({'a':1})",
                             R"({1:2})",
                             "[1}",
                             R"({"a":1])",
                             "[] []",
                             "1 2",
                             "nul",
                             "nulll",
                             "True",
                             "truefalse",
                             "NaN",
                             "Infinity",
                             "-Infinity",
                             "-",
                             "+1",
                             ".5",
                             "5.",
                             "-.5",
                             "1.e3",
                             "1e",
                             "1e+",
                             "1e-",
                             "01",
                             "-01",
                             "0.1.2",
                             "1_000",
                             "0x1",
                             "\"",
                             "\"a",
                             "a\"",
                             "'a'",
                             "\"\t\"",
                             "// x\n1",
                             "/* x */1",
                             "1 // x",
                             "[1]]",
                             "\xEF\xBB\xBF{}",
                             "\v1",
                             "\f1",
                             "\xC2\xA0"
                             "1",
                             "[1\xff]"}) {
      CAPTURE(text);
      CHECK_FALSE(accepts(text));
    }
    CHECK_FALSE(accepts("1\0"s));
    CHECK_FALSE(accepts("\0"s));
  }

  TEST_CASE("512 levels and no more, counting those that were entered by hand") {
    CHECK(accepts(nested(512)));
    CHECK_FALSE(accepts(nested(513)));
    CHECK_FALSE(accepts(std::string(1'000'000, '[')));
    std::string objects;
    for (int i = 0; i < 1000; ++i) objects += R"({"a":)";
    CHECK_FALSE(accepts(objects));
    const std::string text = "[" + nested(512) + "]";
    JsonReader reader(text);
    CHECK(reader.enter_array());
    CHECK(reader.next_element());
    CHECK(reader.skip().empty());
    CHECK_FALSE(reader.ok());
    CHECK(reader.position() == 512);
    CHECK(accepts("[" + nested(511) + "," + nested(511) + "]"));  // depth, not the number of brackets
  }

  TEST_CASE("a mistake has a reason and a place, and lasts") {
    CHECK(mistake("[1,x]").position == 3);
    CHECK(mistake(R"({"a" 1})").position == 5);
    CHECK(mistake(R"({"a":1,})").position == 7);
    CHECK(mistake("[1,01]").position == 3);
    CHECK(mistake("[1] 2").position == 4);
    CHECK(mistake("[1,").position == 3);
    CHECK(mistake("[1,").error == "the text ends too early");
    CHECK(mistake("[1,x]").error != mistake(R"({"a" 1})").error);

    JsonReader reader(R"({"a":x,"b":1,"c":"s"})");
    std::string_view name;
    std::string scratch;
    reader.enter_object();
    reader.next_member(name);
    CHECK(reader.integer() == 0);
    const std::string error = reader.error();
    CHECK_FALSE(reader.next_member(name));
    CHECK_FALSE(reader.next_element());
    CHECK_FALSE(reader.enter_object());
    CHECK_FALSE(reader.enter_array());
    CHECK_FALSE(reader.boolean());
    CHECK_FALSE(reader.null());
    CHECK(reader.integer() == 0);
    CHECK(reader.string(scratch).empty());
    CHECK(reader.skip().empty());
    CHECK(reader.peek() == JsonType::invalid);
    CHECK_FALSE(reader.finish());
    CHECK(reader.error() == error);
    CHECK(reader.position() == 5);
  }

  TEST_CASE("an object that was not left is not finished") {
    JsonReader reader("[1");
    reader.enter_array();
    reader.next_element();
    CHECK(reader.integer() == 1);
    CHECK(reader.ok());
    CHECK_FALSE(reader.finish());
  }

  TEST_CASE("the wrong type is a mistake, except where null is asked for") {
    std::string scratch;
    JsonReader string_for_number("\"1\""), number_for_string("1"), null_for_bool("null"), text("\"x\"");
    CHECK(string_for_number.integer() == 0);
    CHECK_FALSE(string_for_number.ok());
    CHECK(number_for_string.string(scratch).empty());
    CHECK_FALSE(number_for_string.ok());
    CHECK_FALSE(null_for_bool.boolean());
    CHECK_FALSE(null_for_bool.ok());
    CHECK_FALSE(text.null());
    CHECK(text.ok());
    CHECK(text.string(scratch) == "x");
    JsonReader misspelt("nil");
    CHECK_FALSE(misspelt.null());
    CHECK_FALSE(misspelt.ok());
  }
}
