#include <doctest/doctest.h>

#include <set>

#include "core/base/uuid.h"

using namespace tk;

namespace {
// Kafka's reserved id 1, the topic id of its metadata log (kafka-on-disk.md, partition.metadata).
constexpr const char* kOne = "AAAAAAAAAAAAAAAAAAAAAQ";
constexpr Uuid kFalling{
    {0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x00}};
}  // namespace

TEST_SUITE("base.uuid") {
  TEST_CASE("text is URL-safe base64 without padding") {
    Uuid one;
    one.bytes[15] = 1;
    CHECK(one.text() == kOne);
    CHECK(Uuid{}.text() == "AAAAAAAAAAAAAAAAAAAAAA");
    CHECK(kFalling.text() == "_-7dzLuqmYh3ZlVEMyIRAA");  // Python's base64.urlsafe_b64encode
    CHECK(kFalling.hex() == "ffeeddccbbaa99887766554433221100");
  }

  TEST_CASE("text is read back") {
    CHECK(Uuid::parse("_-7dzLuqmYh3ZlVEMyIRAA") == kFalling);
    const auto one = Uuid::parse(kOne);
    REQUIRE(one);
    CHECK_FALSE(one->is_zero());
    CHECK(one->bytes[15] == 1);
    CHECK(Uuid::parse("AAAAAAAAAAAAAAAAAAAAAA")->is_zero());
    Uuid full;
    full.bytes.fill(0xff);
    CHECK(Uuid::parse("_____________________w") == full);
    CHECK(Uuid::parse("______________________") == full);  // the last four bits do not count
  }

  TEST_CASE("what is no id is refused") {
    for (const char* text : {"", "A", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAA",
                             "AAAAAAAAAAAAAAAAAAAAAQ==", "+AAAAAAAAAAAAAAAAAAAAA", "/AAAAAAAAAAAAAAAAAAAAA",
                             "AAAAAAAAAA AAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAA\xC3\xA4"}) {
      CAPTURE(text);
      CHECK_FALSE(Uuid::parse(text));
    }
  }

  TEST_CASE("random ids are of version 4, differ, and never begin with a dash") {
    std::set<std::string> seen;
    for (int i = 0; i < 2000; ++i) {
      const Uuid id = Uuid::random();
      const std::string text = id.text();
      REQUIRE((id.bytes[6] & 0xf0) == 0x40);
      REQUIRE((id.bytes[8] & 0xc0) == 0x80);
      REQUIRE(text[0] != '-');
      REQUIRE(Uuid::parse(text) == id);
      seen.insert(text);
    }
    CHECK(seen.size() == 2000);
  }
}
