// JsonReader against nlohmann_json, an independent parser, on random texts and on mutations of them.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "core/base/json_reader.h"

using namespace tk;
using nlohmann::json;

namespace {

class Source {
 public:
  explicit Source(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return random_() % bound; }

  const std::string& one_of(const std::vector<std::string>& pieces) { return pieces[below(pieces.size())]; }

  /// A JSON text, with blanks and all forms of numbers and escapes.
  std::string value(int depth) {
    switch (below(depth > 4 ? 5 : 8)) {
      case 0:
        return one_of({"null", "true", "false"});
      case 1:
        return one_of({"0", "-0", "-1", "12", "1700000000123", "9223372036854775807", "-9223372036854775808",
                       "18446744073709551615", "0.5", "-1.25e-7", "1E5", "2e+3", "123456789012345678901"});
      case 2:
      case 3:
      case 4:
        return string();
      case 5:
      case 6:
        return container('{', '}', depth, [&] { return string() + blank() + ":" + blank(); });
      default:
        return container('[', ']', depth, [] { return std::string(); });
    }
  }

  std::string mutated(std::string text) {
    static const std::string favourites =
        "{}[]\",:\\u0123456789.eE+-ntfalsdD8\t\n\x01\x1f\x7f\x80\xBF\xC3\xE2\xED\xF0\xF4\xFF";
    // NUL is left out: the other parser takes it as the end of the text.
    const auto byte = [&] {
      return below(4) == 0 ? static_cast<char>(1 + below(255)) : favourites[below(favourites.size())];
    };
    for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = below(text.size());
      switch (below(5)) {
        case 0:
          text.erase(at, 1 + below(3));
          break;
        case 1:
          text.insert(at, 1, byte());
          break;
        case 2:
          text.insert(at, text.substr(below(text.size()), below(8)));
          break;
        case 3:
          text.resize(below(8) == 0 ? at : text.size());
          break;
        default:
          text[at] = byte();
      }
    }
    return text;
  }

 private:
  std::string blank() { return below(4) == 0 ? one_of({" ", "  ", "\t", "\n", "\r\n"}) : ""; }

  std::string string() {
    static const std::vector<std::string> pieces = {"a",
                                                    "key",
                                                    "value",
                                                    " ",
                                                    "0123456789abcdef",
                                                    "\\n",
                                                    "\\\"",
                                                    "\\\\",
                                                    "\\/",
                                                    "\\u0041",
                                                    "\\u00e4",
                                                    "\\u0000",
                                                    "\\ud83d\\ude00",
                                                    "\\uFFFF",
                                                    "\xC3\xA4",
                                                    "\xE2\x82\xAC",
                                                    "\xF0\x9F\x98\x80",
                                                    "\xED\x9F\xBF",
                                                    "\xF4\x8F\xBF\xBF",
                                                    "\x7f",
                                                    "{",
                                                    "[",
                                                    ","};
    std::string text = "\"";
    for (std::size_t count = below(below(5) == 0 ? 30 : 5); count > 0; --count) text += one_of(pieces);
    return text + "\"";
  }

  template <class Prefix>
  std::string container(char open, char close, int depth, Prefix prefix) {
    std::string text(1, open);
    for (std::size_t i = 0, count = below(5); i < count; ++i) {
      text += (i > 0 ? "," : "") + blank() + prefix() + value(depth + 1) + blank();
    }
    return text + blank() + close;
  }

  std::mt19937 random_;
};

bool accepts(const std::string& text) {
  const std::vector<char> exact(text.begin(), text.end());
  JsonReader reader(std::string_view(exact.data(), exact.size()));
  const bool whole = !reader.skip().empty();
  const bool good = reader.finish();
  CHECK((reader.error() == nullptr) == good);
  CHECK(reader.position() <= text.size());
  CHECK((whole || !good));
  return good;
}

/// The grammar has no limit for numbers, but the other parser refuses those that a double cannot hold.
bool is_number_too_large(const std::string& text) {
  try {
    return json::parse(text).is_discarded();
  } catch (const json::out_of_range&) {
    return true;
  } catch (const json::exception&) {
    return false;
  }
}

/// Builds the tree through every call of the reader, to compare what was decoded.
json tree(JsonReader& reader) {
  std::string scratch;
  switch (reader.peek()) {
    case JsonType::object: {
      json object = json::object();
      std::string_view name;
      reader.enter_object();
      while (reader.next_member(name)) {
        const std::string key(name);
        object[key] = tree(reader);
      }
      return object;
    }
    case JsonType::array: {
      json array = json::array();
      reader.enter_array();
      while (reader.next_element()) array.push_back(tree(reader));
      return array;
    }
    case JsonType::string:
      return std::string(reader.string(scratch));
    case JsonType::boolean:
      return reader.boolean();
    case JsonType::null:
      return reader.null() ? json() : json("a mistake");
    default: {
      JsonReader copy = reader;
      const std::int64_t value = copy.integer();
      if (!copy.ok()) return json::parse(reader.skip());
      reader = copy;
      return value;
    }
  }
}

}  // namespace

TEST_SUITE("base.json_reader") {
  TEST_CASE("random texts are read as the other parser reads them") {
    Source source(1);
    for (int round = 0; round < 3000; ++round) {
      const std::string text = source.value(0);
      CAPTURE(text);
      REQUIRE(accepts(text));
      JsonReader reader(text);
      const json ours = tree(reader);
      REQUIRE(reader.finish());
      REQUIRE(ours == json::parse(text));
    }
  }

  TEST_CASE("mutated texts are accepted or refused as the other parser does") {
    Source source(2);
    int accepted = 0, refused = 0;
    for (int round = 0; round < 30000; ++round) {
      const std::string text = source.mutated(source.value(1));
      const bool expected = json::accept(text);
      if (accepts(text) != expected) {
        CAPTURE(text);
        const bool allowed = !expected && is_number_too_large(text);
        CHECK(allowed);
      }
      ++(expected ? accepted : refused);
    }
    CHECK(accepted > 3000);
    CHECK(refused > 3000);
  }
}
