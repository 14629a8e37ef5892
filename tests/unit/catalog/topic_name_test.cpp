#include "core/catalog/topic_name.h"

#include <doctest/doctest.h>

using namespace tk;

namespace {

// "topic|number|state", or "none".
std::string parts(std::string_view name) {
  const auto parsed = parse_partition_directory(name);
  if (!parsed) return "none";
  return parsed->topic + "|" + std::to_string(parsed->partition.value()) + "|" +
         std::string(partition_state_name(parsed->state));
}

constexpr std::string_view kHex = "0123456789abcdef0123456789abcdef";

}  // namespace

TEST_CASE("topic names: what is legal") {
  for (const std::string& name :
       {std::string("a"), std::string("A.b_c-9"), std::string("-a"), std::string("a-"), std::string("..."),
        std::string("__consumer_offsets"), std::string(249, 'x')}) {
    CHECK_MESSAGE(topic_name_fault(name) == nullptr, name);
  }
  for (const std::string& name :
       {std::string(), std::string("."), std::string(".."), std::string(250, 'x'), std::string("a b"),
        std::string("a/b"), std::string("\xD1\x82"), std::string("a\nb"), std::string("a\0b", 3),
        std::string("a:b"), std::string("a+")}) {
    CHECK_MESSAGE(topic_name_fault(name) != nullptr, name);
  }
}

TEST_CASE("topic names: a.b and a_b collide, equal names do not") {
  CHECK(topic_names_collide("a.b", "a_b"));
  CHECK(topic_names_collide("a_b.c", "a.b_c"));
  CHECK_FALSE(topic_names_collide("a.b", "a.b"));
  CHECK_FALSE(topic_names_collide("a.b", "a-b"));
  CHECK_FALSE(topic_names_collide("a.b", "a_bc"));
}

TEST_CASE("partition directories: the last dash splits (R26)") {
  CHECK(parts("orders-0") == "orders|0|live");
  CHECK(parts("-a-0") == "-a|0|live");
  CHECK(parts("a-1-0") == "a-1|0|live");
  CHECK(parts("a--1") == "a-|1|live");
  CHECK(parts("a-b-2147483647") == "a-b|2147483647|live");
  CHECK(parts("a-10") == "a|10|live");
  // An odd topic is readable all the same (R32).
  CHECK(parts("\xD1\x82-0") == "\xD1\x82|0|live");
  CHECK(parts("a b-3") == "a b|3|live");
  for (const char* name : {"orders", "-0", "a-", "a-x", "a-2147483648", "a-99999999999999999999", "a-+1",
                           "a-01", "a-00", "a-1 ", "lost+found", "", "-", "a-1.5"}) {
    CHECK_MESSAGE(parts(name) == "none", name);
  }
}

TEST_CASE("partition directories: set aside (§1.4)") {
  const std::string id(kHex);
  CHECK(parts("t-0." + id + "-delete") == "t|0|delete");
  CHECK(parts("t.x-12." + id + "-stray") == "t.x|12|stray");
  CHECK(parts("t-1." + id + "-future") == "t|1|future");
  for (const std::string& name : std::vector<std::string>{
           "t-0-delete", "t-0.-delete", "t-0.123-delete", "t." + id + "-delete", "." + id + "-delete",
           id + "-delete", "t-0." + id + "x-delete", "t-0" + id + "-stray"}) {
    CHECK_MESSAGE(parts(name) == "none", name);
  }
  // The id must be hex; and what looks like a suffix in the middle is a part of the topic.
  CHECK(parts("t-0." + std::string(32, 'g') + "-delete") == "none");
  CHECK(parts("t-delete-0") == "t-delete|0|live");
}

TEST_CASE("partition directories: names are made as they are read") {
  CHECK(partition_directory_name("a-1", PartitionId(0)) == "a-1-0");
  const auto id = Uuid::random();
  for (const char* topic : {"t", "a-1", "-a", "x.y_z"}) {
    const std::string name = deletion_directory_name(topic, PartitionId(7), id);
    CHECK(name == std::string(topic) + "-7." + id.hex() + "-delete");
    CHECK(parts(name) == std::string(topic) + "|7|delete");
  }
}

TEST_CASE("deletion names are cut to 255 bytes (R27)") {
  Uuid id;
  for (std::size_t i = 0; i < 16; ++i) id.bytes[i] = static_cast<std::uint8_t>(i % 2 == 0 ? 0x01 : 0x23);
  const std::string topic(249, 'x');
  const std::string name = deletion_directory_name(topic, PartitionId(0), id);
  CHECK(name.size() == 255);
  CHECK(name == std::string(213, 'x') + "-0." + id.hex() + "-delete");
  CHECK(deletion_directory_name(topic, PartitionId(2147483647), id).size() == 255);
  CHECK(deletion_directory_name(std::string(213, 'y'), PartitionId(0), id).size() == 255);
  CHECK(deletion_directory_name(std::string(212, 'y'), PartitionId(0), id).size() == 254);
}
