// The text of a group's file (groups.md §13): written and read, and whatever may have become of it.
#include "core/group/group_file.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/base/crc.h"
#include "core/base/error.h"
#include "core/group/group_name.h"
#include "tests/unit/group/fake_topics.h"
#include "tests/unit/io/caught.h"

using namespace tk;
using nlohmann::json;
using tk::test::caught;
using tk::test::partitions;

namespace {

constexpr const char* kPath = "/d/group-g.json";

GroupState parse(std::string_view text) {
  return parse_group_file(text, kPath);
}

// Something of everything.
GroupState classic_group() {
  GroupState group;
  group.group = "orders \"app\" \u00fc";
  group.seq = 42;
  group.last_now_ms = 1700000000000;
  group.protocol = GroupProtocol::classic;
  group.had_members = true;
  group.phase = GroupPhase::completing_rebalance;
  group.state_since_ms = 1699999990000;
  group.generation = 7;
  group.assignor = Assignor::cooperative_sticky;
  group.leader = "c-00000003";
  group.next_member_seq = 5;
  group.next_commit_seq = 18;
  group.rebalance.sync_deadline_ms = 1700000300000;
  group.rebalance.pending_sync = {"c-00000003"};
  group.rebalance.delay_ms = 3000;
  group.partition_counts = {{"t", 4}, {"u", 1}};
  GroupMember member;
  member.number = 3;
  member.client = "c";
  member.host = "h";
  member.topics = {"t", "u"};
  member.assignors = {Assignor::cooperative_sticky, Assignor::range};
  member.session_deadline_ms = 1700000045000;
  member.poll_deadline_ms = 1700000300000;
  member.assignment = partitions("t", {0, 1, 2});
  member.owned_generation = 6;
  member.revoking = partitions("u", {0});
  group.members["c-00000003"] = member;
  member.number = 4;
  member.instance = "i1";
  member.assignment = partitions("t", {3});
  member.revoking.clear();
  member.poll_expired = true;
  group.members["i1-00000004"] = member;
  group.static_members = {{"i1", "i1-00000004"}};
  CommittedOffset offset;
  offset.offset = 40;
  offset.topic_id = Uuid::parse("Zk3TgNzYQ1qwQXZ0yVnZ0g");
  offset.leader_epoch = 2;
  offset.metadata = "a\"b\n";
  offset.commit_ts_ms = 1699999999999;
  offset.commit_seq = 17;
  offset.member = "c-00000003";
  offset.generation = 7;
  group.offsets[{"t", PartitionId(0)}] = offset;
  offset.expire_ts_ms = 1800000000000;
  offset.topic_id.reset();
  group.offsets[{"t", PartitionId(10)}] = offset;
  offset.commit_seq = 16;
  group.pending_txn[4001] = {3, {{{"t", PartitionId(1)}, offset}}};
  group.cost = RebalanceCost{3, 1, 2, 4, 0, 0, 1, 3, std::nullopt};
  return group;
}

GroupState consumer_group() {
  GroupState group;
  group.group = "g";
  group.protocol = GroupProtocol::consumer;
  group.had_members = true;
  group.phase = GroupPhase::reconciling;
  group.generation = 3;
  group.target_epoch = 3;
  group.assignor = Assignor::uniform;
  GroupMember member;
  member.topics = {"t"};
  member.epoch = 2;
  member.previous_epoch = 1;
  member.phase = MemberPhase::unrevoked;
  member.assignment = partitions("t", {0});
  member.revoking = partitions("t", {1});
  member.revoke_deadline_ms = 500;
  group.members["A"] = member;
  group.target["A"] = partitions("t", {0});
  return group;
}

// The same text with its checksum put right.
std::string resealed(std::string text) {
  text = text.substr(0, text.rfind(",\"crc32c\""));
  return text + ",\"crc32c\":\"" + [&] {
    char hex[9];
    std::snprintf(hex, sizeof hex, "%08x", crc32c(as_bytes(text)));
    return std::string(hex);
  }() + "\"}\n";
}
std::string unsealed(const std::string& text) {
  return text.substr(0, text.rfind(",\"crc32c\"")) + "}\n";
}
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return unsealed(text.replace(at, from.size(), to));
}

}  // namespace

TEST_CASE("group file: written and read") {
  for (const GroupState& group : {classic_group(), consumer_group(), [] {
                                    GroupState simple;
                                    simple.group = "g";
                                    return simple;
                                  }()}) {
    const std::string text = format_group_file(group);
    CHECK(json::accept(text));
    CHECK(parse(text) == group);
    CHECK(parse(unsealed(text)) == group);
    CHECK(format_group_file(parse(text)) == text);
  }
}

TEST_CASE("group file: its shape is the documented one") {
  const json file = json::parse(format_group_file(classic_group()));
  CHECK(file["format"] == 1);
  CHECK(file["protocol"] == "classic");
  CHECK(file["protocol_type"] == "consumer");
  CHECK(file["state"] == "CompletingRebalance");
  CHECK(file["static"] == json{{"i1", "i1-00000004"}});
  CHECK(file["rebalance"]["pending_sync"] == json{"c-00000003"});
  CHECK(file["members"]["c-00000003"]["assignment"] == json{{"t", {0, 1, 2}}});
  CHECK(file["members"]["c-00000003"]["protocols"] == json{"cooperative-sticky", "range"});
  CHECK(file["members"]["c-00000003"]["epoch"] == nullptr);
  CHECK(file["offsets"]["t"]["0"]["offset"] == 40);
  CHECK(file["offsets"]["t"]["0"]["topic_id"] == "Zk3TgNzYQ1qwQXZ0yVnZ0g");
  CHECK(file["pending_txn"]["4001"]["offsets"]["t"]["1"]["commit_seq"] == 16);
  CHECK(file["group_epoch"] == nullptr);
  const json consumer = json::parse(format_group_file(consumer_group()));
  CHECK(consumer["group_epoch"] == 3);
  CHECK(consumer["target"]["A"] == json{{"t", {0}}});
  CHECK(consumer["members"]["A"]["member_state"] == "UNREVOKED");
}

TEST_CASE("group file: every cut and every flipped bit is damage, named with its place") {
  const std::string text = format_group_file(classic_group());
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    const auto error = caught([&] { parse(std::string_view(text).substr(0, size)); });
    CAPTURE(size);
    REQUIRE(error);
    REQUIRE(error->code() == ErrorCode::corrupt_state);
    REQUIRE(error->path() == kPath);
    REQUIRE(error->position());
  }
  CHECK_NOTHROW(parse(std::string_view(text).substr(0, text.size() - 1)));  // only the line feed is missing
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const auto error = caught([&] { parse(flipped); });
      CAPTURE(at);
      CAPTURE(bit);
      REQUIRE(error);
      REQUIRE(error->code() == ErrorCode::corrupt_state);
    }
  }
}

TEST_CASE("group file: flips whose checksum was put right never crash the reader") {
  const std::string text = format_group_file(classic_group());
  const std::size_t end = text.rfind(",\"crc32c\"");
  int accepted = 0;
  for (std::size_t at = 0; at < end; ++at) {
    for (int bit = 0; bit < 7; ++bit) {
      std::string flipped = text;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const auto error = caught([&] {
        // What is accepted can be used.
        GroupState group = parse(resealed(flipped));
        test::FakeTopics topics({{"t", 4}, {"u", 1}});
        GroupTurn turn{.group = group, .now_ms = 1LL << 52, .topics = topics};
        catch_up(turn);
        CHECK_NOTHROW(format_group_file(group));
      });
      if (!error) ++accepted;
      const bool expected = !error || error->code() == ErrorCode::corrupt_state ||
                            error->code() == ErrorCode::unsupported_version;
      CAPTURE(at);
      CAPTURE(bit);
      REQUIRE(expected);
    }
  }
  CHECK(accepted > 100);  // digits and letters of names
}

TEST_CASE("group file: shapes that are wrong") {
  const std::string text = format_group_file(classic_group());
  const std::string consumer = format_group_file(consumer_group());
  const std::string wrong[] = {
      "",
      "[]",
      "{}",
      "{\"format\":1}",
      "{\"format\":\"1\",\"group\":\"g\"}",
      "{\"format\":1,\"group\":\"\"}",
      "{\"format\":1,\"group\":\"g\"} x",
      "{\"format\":1,\"group\":\"g\",\"new\":1}",
      "{\"format\":1,\"group\":\"g\",\"crc32c\":\"00000000\",\"seq\":1}",
      std::string(3000, '['),
      replaced(text, "\"seq\":42", "\"seq\":4.2"),
      replaced(text, "\"seq\":42", "\"seq\":-1"),
      replaced(text, "\"seq\":42", "\"seq\":92233720368547758080"),
      replaced(text, "\"generation\":7,\"assignor\"", "\"generation\":2147483648,\"assignor\""),
      replaced(text, "\"state\":\"Comp", "\"state\":\"comp"),
      replaced(text, "\"protocol\":\"classic\"", "\"protocol\":\"classical\""),
      replaced(text, "\"protocol\":\"classic\"", "\"protocol\":\"immediate\""),
      replaced(text, "cooperative-sticky", "co-op"),
      replaced(text, "[0,1,2]", "[0,2,1]"),
      replaced(text, "[0,1,2]", "[0,1,1]"),
      replaced(text, "[0,1,2]", "[0,1,-2]"),
      replaced(text, "[0,1,2]", "[0,1,2,3]"),  // also the other member's
      replaced(text, "\"0\":{\"offset\"", "\"00\":{\"offset\""),
      replaced(text, "\"0\":{\"offset\"", "\"x\":{\"offset\""),
      replaced(text, "\"offset\":40", "\"offset\":4.5"),
      replaced(text, "Zk3TgNzYQ1qwQXZ0yVnZ0g", "short"),
      replaced(text, "\"leader\":\"c-00000003\"", "\"leader\":\"nobody\""),
      replaced(text, "\"leader\":\"c-00000003\"", "\"leader\":null"),
      replaced(text, "\"static\":{\"i1\":\"i1-00000004\"}", "\"static\":{}"),
      replaced(text, "\"session_deadline_ms\":1700000045000", "\"session_deadline_ms\":5"),
      replaced(text, "\"t\":4,\"u\":1", "\"t\":4,\"t\":1"),
      replaced(text, "\"t\":4,\"u\":1", "\"t\":4,\"u\":2000000000"),
      replaced(consumer, "\"target_epoch\":3", "\"target_epoch\":4"),
      replaced(consumer, "\"target\":{\"A\":{\"t\":[0]}}", "\"target\":{\"B\":{\"t\":[0]}}"),
  };
  for (const std::string& file : wrong) {
    CAPTURE(file.substr(0, 200));
    const auto error = caught([&] { parse(file); });
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::corrupt_state);
    CHECK(error->position());
  }
}

TEST_CASE("group file: another version is refused as such, and not taken for damage") {
  const std::string text = format_group_file(consumer_group());
  for (const char* version : {"\"format\":0,", "\"format\":2,", "\"format\":-1,"}) {
    std::string sealed = text;
    sealed.replace(sealed.find("\"format\":1,"), std::string_view("\"format\":1,").size(), version);
    CHECK(caught([&] { parse(sealed); })->code() == ErrorCode::corrupt_state);  // by its sum
    CHECK(caught([&] { parse(resealed(sealed)); })->code() == ErrorCode::unsupported_version);
    const auto plain = caught([&] { parse(replaced(text, "\"format\":1,", version)); });
    REQUIRE(plain);
    CHECK(plain->code() == ErrorCode::unsupported_version);
    CHECK(plain->path() == kPath);
  }
}

TEST_CASE("group names: keys are safe as file names, and stand for one group each") {
  CHECK(group_key("orders-app_1.x") == "orders-app_1.x");
  CHECK(group_key("a/b c") == "a%2Fb%20c");
  CHECK(group_key("../x") == "..%2Fx");
  CHECK(group_key("100%") == "100%25");
  CHECK(group_key("\u00fc") == "%C3%BC");
  for (const char* name : {"orders-app", "a/b c", "100%", "\u00fc", ".", "%41"})
    CHECK(group_of_key(group_key(name)) == name);
  const std::string x180(180, 'x');
  CHECK(group_key(x180) == x180);
  const std::string a = group_key(x180 + "a"), b = group_key(x180 + "b");
  CHECK(a.size() == 150 + 1 + 16);
  CHECK(a != b);
  CHECK(a.substr(0, 151) == std::string(150, 'x') + "~");
  CHECK(key_of_file_name("group-a.json") == "a");
  for (const char* no : {"group-.json", "group-a.lock", "group-a.events.ndjson", "group-a.json.tmp",
                         "group-a.json.damaged-5", "tk-topics.json"}) {
    CHECK(key_of_file_name(no).empty());
  }
  CHECK_NOTHROW(check_group_id("a/b"));
  for (const std::string& bad : {std::string(), std::string("\xff"), std::string(5000, 'x')}) {
    CHECK(caught([&] { check_group_id(bad); })->code() == ErrorCode::invalid_group_id);
  }
}

TEST_CASE("group names: Kafka's partition of the offsets topic (7.8)") {
  CHECK(offsets_partition_of("g1") == 42);
  CHECK(offsets_partition_of("orders-app") == 5);
  CHECK(offsets_partition_of("billing") == 9);
  CHECK(offsets_partition_of("demo-group") == 15);
  CHECK(offsets_partition_of("polygenelubricants") == 0);  // its hash is the smallest int
}
