#include "core/format/checkpoint_file.h"

#include <doctest/doctest.h>

#include "core/format/meta_properties.h"

using namespace tk;

namespace {

OffsetCheckpointEntry offset_of(std::string topic, std::int32_t partition, std::int64_t offset) {
  return {std::move(topic), PartitionId(partition), Offset(offset)};
}

LeaderEpochEntry epoch_from(std::int32_t epoch, std::int64_t start) {
  return {LeaderEpoch(epoch), Offset(start)};
}

/// The line of the fault, -1 without one.
template <class Parsed>
int fault_line(const Parsed& parsed) {
  return parsed.fault ? static_cast<int>(parsed.fault->line) : -1;
}

}  // namespace

TEST_SUITE("format.checkpoint_file") {
  TEST_CASE("an offset checkpoint there and back") {
    const std::string text = "0\n2\norders 0 1042\na-b.c_1 977 9223372036854775807\n";
    const OffsetCheckpoint parsed = parse_offset_checkpoint(text);
    CHECK_FALSE(parsed.fault);
    CHECK(parsed.entries ==
          std::vector{offset_of("orders", 0, 1042), offset_of("a-b.c_1", 977, 9223372036854775807)});
    CHECK(format_offset_checkpoint(parsed.entries) == text);
    CHECK(format_offset_checkpoint({}) == "0\n0\n");
  }

  TEST_CASE("files without entries") {
    for (const std::string_view text : {"", "0\n", "0", "0\n0\n", "0\n0"}) {
      CAPTURE(text);
      const OffsetCheckpoint offsets = parse_offset_checkpoint(text);
      CHECK_FALSE(offsets.fault);
      CHECK(offsets.entries.empty());
      const LeaderEpochCheckpoint epochs = parse_leader_epoch_checkpoint(text);
      CHECK_FALSE(epochs.fault);
      CHECK(epochs.entries.empty());
    }
  }

  TEST_CASE("any blanks between the fields, some behind, and every end of line") {
    const auto parsed = parse_offset_checkpoint("0\r\n3\r\na\t 0  1\rb 1 2 \nc 2 3");
    CHECK_FALSE(parsed.fault);
    CHECK(parsed.entries == std::vector{offset_of("a", 0, 1), offset_of("b", 1, 2), offset_of("c", 2, 3)});
  }

  TEST_CASE("an offset checkpoint that cannot be taken names the line and gives nothing") {
    const std::pair<std::string_view, int> cases[] = {
        {"garbage\n", 1},
        {"1\n0\n", 1},
        {"\n0\n", 1},
        {"-1\n0\n", 1},
        {"0 \n0\n", 1},
        {"99999999999999999999\n0\n", 1},
        {"0\nx\n", 2},
        {"0\n-1\n", 2},
        {"0\n4294967297\na 0 1\n", 2},
        {"0\n2\na 0 1\n", 2},
        {"0\n1\na 0 1\nb 0 1\n", 2},
        {"0\n1\na 0\n", 3},
        {"0\n1\na 0 1 2\n", 3},
        {"0\n1\n a 0 1\n", 3},
        {"0\n1\na -1 1\n", 3},
        {"0\n1\na 2147483648 1\n", 3},
        {"0\n1\na 0 -1\n", 3},
        {"0\n1\na 0 9223372036854775808\n", 3},
        {"0\n1\na 0 1x\n", 3},
        {"0\n1\n\xff 0 1\n", 3},
        {"0\n2\na 0 1\n\n", 4},
    };
    for (const auto& [bad, line] : cases) {
      const std::string text(bad);
      CAPTURE(text);
      const OffsetCheckpoint parsed = parse_offset_checkpoint(text);
      CHECK(fault_line(parsed) == line);
      CHECK(parsed.entries.empty());
      if (parsed.fault) CHECK_FALSE(parsed.fault->reason.empty());
    }
  }

  TEST_CASE("a leader epoch checkpoint there and back") {
    const std::string text = "0\n2\n0 0\n2 8589934742\n";
    const LeaderEpochCheckpoint parsed = parse_leader_epoch_checkpoint(text);
    CHECK_FALSE(parsed.fault);
    CHECK(parsed.entries == std::vector{epoch_from(0, 0), epoch_from(2, 8589934742)});
    CHECK(format_leader_epoch_checkpoint(parsed.entries) == text);
  }

  TEST_CASE("leader epoch checkpoints that a power cut leaves") {
    const std::pair<std::string, int> cases[] = {
        {"0\n2\n0 0\n", 2},  {std::string(64, '\0'), 1}, {"0\n1\n0\n", 3},     {"7\n1\n0 0\n", 1},
        {"0\n1\n-1 0\n", 3}, {"0\n1\n0 -1\n", 3},        {"0\n1\n0 0 0\n", 3},
    };
    for (const auto& [bad, line] : cases) {
      const std::string text(bad);
      CAPTURE(text);
      const LeaderEpochCheckpoint parsed = parse_leader_epoch_checkpoint(text);
      CHECK(fault_line(parsed) == line);
      CHECK(parsed.entries.empty());
    }
  }

  TEST_CASE("partition.metadata there and back") {
    const std::string text = "version: 0\ntopic_id: Zk3TgNzYQ1qwQXZ0yVnZ0g";
    const PartitionMetadata parsed = parse_partition_metadata(text);
    CHECK_FALSE(parsed.fault);
    CHECK(parsed.version == 0);
    CHECK(parsed.topic_id.text() == "Zk3TgNzYQ1qwQXZ0yVnZ0g");
    CHECK(format_partition_metadata(parsed.topic_id) == text);

    const auto later = parse_partition_metadata("version: 3\r\ntopic_id:  AAAAAAAAAAAAAAAAAAAAAQ\nmore: x\n");
    CHECK_FALSE(later.fault);
    CHECK(later.version == 3);
    CHECK(later.topic_id.text() == "AAAAAAAAAAAAAAAAAAAAAQ");
  }

  TEST_CASE("partition.metadata that cannot be taken") {
    const std::pair<std::string_view, int> cases[] = {
        {"", 0},
        {"nonsense", 1},
        {"version:0\ntopic_id: Zk3TgNzYQ1qwQXZ0yVnZ0g", 1},
        {"version: -1\ntopic_id: Zk3TgNzYQ1qwQXZ0yVnZ0g", 1},
        {"version: x\ntopic_id: Zk3TgNzYQ1qwQXZ0yVnZ0g", 1},
        {"version: 0\n", 0},
        {"version: 0\nid: Zk3TgNzYQ1qwQXZ0yVnZ0g", 2},
        {"version: 0\ntopic_id: Zk3TgNzYQ1qwQXZ0yVn", 2},
        {"version: 0\ntopic_id: ", 2},
        {"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", 2},
    };
    for (const auto& [bad, line] : cases) {
      const std::string text(bad);
      CAPTURE(text);
      const PartitionMetadata parsed = parse_partition_metadata(text);
      CHECK(fault_line(parsed) == line);
      CHECK(parsed.topic_id.is_zero());
    }
  }
}

TEST_SUITE("format.meta_properties") {
  TEST_CASE("of a KRaft broker") {
    const MetaProperties meta = parse_meta_properties(
        "#\n#Sun Nov 29 15:57:04 UTC 2026\nnode.id=1\ndirectory.id=UA1OuVOKwR5fBTNnNm-ehg\n"
        "version=1\ncluster.id=damaged440mainset00000\n");
    CHECK_FALSE(meta.fault);
    CHECK(meta.version == 1);
    CHECK(meta.node_id == 1);
    CHECK(meta.cluster_id == "damaged440mainset00000");
    REQUIRE(meta.directory_id);
    CHECK(meta.directory_id->text() == "UA1OuVOKwR5fBTNnNm-ehg");
  }

  TEST_CASE("of the ZooKeeper era, with and without a version") {
    const MetaProperties meta = parse_meta_properties("version=0\nbroker.id=7\nnode.id=8\n");
    CHECK_FALSE(meta.fault);
    CHECK(meta.version == 0);
    CHECK(meta.node_id == 7);
    CHECK_FALSE(meta.cluster_id);
    const MetaProperties empty = parse_meta_properties("");
    CHECK_FALSE(empty.fault);
    CHECK(empty.version == 0);
    CHECK_FALSE(empty.node_id);
  }

  TEST_CASE("everything that a property file may have") {
    const MetaProperties meta = parse_meta_properties(
        "  ! comment with a backslash \\\n"
        "version : 1\n"
        "node.id 5\n"
        "node.id\t=\t6\n"  // the last one counts
        "\n"
        "cluster\\.id=a\\:b\\u0041\\\n"
        "    \\=c\\\\\n"
        "unknown\n"
        "other\\=key = x");
    CHECK_FALSE(meta.fault);
    CHECK(meta.version == 1);
    CHECK(meta.node_id == 6);
    CHECK(meta.cluster_id == "a:bA=c\\");
    const MetaProperties latin =
        parse_meta_properties("version=1\nnode.id=1\ncluster.id=\xe9\\u20ac\\ud800\\");
    CHECK(latin.cluster_id == "\xc3\xa9\xe2\x82\xac\xef\xbf\xbd");
  }

  TEST_CASE("mistakes name their line") {
    const std::pair<std::string_view, int> cases[] = {
        {"node.id=1\nversion=2\ncluster.id=x", 2},
        {"version=x", 1},
        {"version=1\nnode.id=1", 0},
        {"version=1\ncluster.id=x", 0},
        {"version=1\nnode.id=1.5\ncluster.id=x", 2},
        {"version=0\nbroker.id=2147483648", 2},
        {"version=1\nnode.id=1\ncluster.id=x\ndirectory.id=short", 4},
        {"# c\nversion=1\nx=\\u12g4", 3},
        {"x=\\u12", 1},
    };
    for (const auto& [bad, line] : cases) {
      const std::string text(bad);
      CAPTURE(text);
      const MetaProperties meta = parse_meta_properties(text);
      CHECK(fault_line(meta) == line);
      CHECK_FALSE(meta.node_id);
      CHECK_FALSE(meta.cluster_id);
    }
  }
}
