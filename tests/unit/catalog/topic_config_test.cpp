#include "core/catalog/topic_config.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/unit/io/caught.h"

using namespace tk;
using tk::test::caught;

namespace {

bool refused(std::string_view key, std::string_view value) {
  const auto error = caught([&] { check_config(key, value); });
  return error && error->code() == ErrorCode::invalid_config;
}

}  // namespace

// Keys, defaults and limits are those that LogConfig.configKeys() of Kafka 4.4.0 gives; segment.bytes from
// 128 is ours.
TEST_CASE("configs: every key of Kafka 4.4 with its default") {
  const std::pair<const char*, const char*> kafka[] = {
      {"cleanup.policy", "delete"},
      {"compression.gzip.level", "-1"},
      {"compression.lz4.level", "9"},
      {"compression.type", "producer"},
      {"compression.zstd.level", "3"},
      {"delete.retention.ms", "86400000"},
      {"errors.deadletterqueue.group.enable", "false"},
      {"file.delete.delay.ms", "60000"},
      {"flush.messages", "9223372036854775807"},
      {"flush.ms", "9223372036854775807"},
      {"index.interval.bytes", "4096"},
      {"local.retention.bytes", "-2"},
      {"local.retention.ms", "-2"},
      {"max.compaction.lag.ms", "9223372036854775807"},
      {"max.decompressed.message.bytes", "2147483639"},
      {"max.message.bytes", "1048588"},
      {"message.timestamp.after.max.ms", "3600000"},
      {"message.timestamp.before.max.ms", "9223372036854775807"},
      {"message.timestamp.type", "CreateTime"},
      {"min.cleanable.dirty.ratio", "0.5"},
      {"min.compaction.lag.ms", "0"},
      {"min.insync.replicas", "1"},
      {"preallocate", "false"},
      {"remote.copy.lag.bytes", "-1"},
      {"remote.copy.lag.ms", "0"},
      {"remote.log.copy.disable", "false"},
      {"remote.log.delete.on.disable", "false"},
      {"remote.storage.enable", "false"},
      {"retention.bytes", "-1"},
      {"retention.ms", "604800000"},
      {"segment.bytes", "1073741824"},
      {"segment.index.bytes", "10485760"},
      {"segment.jitter.ms", "0"},
      {"segment.ms", "604800000"},
      {"unclean.leader.election.enable", "false"},
  };
  const auto keys = config_keys();
  for (const auto& row : kafka) {
    const char *const key = row.first, *const value = row.second;
    CHECK_MESSAGE(std::ranges::find(keys, key) != keys.end(), key);
    CHECK_MESSAGE(config_default(key) == std::string_view(value), key);
    CHECK_MESSAGE(check_config(key, value) == value, key);
  }
  for (const char* key : {"follower.replication.throttled.replicas", "leader.replication.throttled.replicas",
                          "internal.segment.bytes"}) {
    CHECK_MESSAGE(std::ranges::find(keys, key) != keys.end(), key);
    CHECK_MESSAGE(!config_default(key), key);
  }
  CHECK(config_default_of_tk("retention.ms") == std::string_view("-1"));
  CHECK(config_default_of_tk("segment.bytes") == std::string_view("1073741824"));
}

TEST_CASE("configs: limits") {
  const struct {
    const char *key, *good, *bad;
  } rows[] = {
      {"segment.bytes", "128", "127"},
      {"segment.bytes", "2147483647", "2147483648"},
      {"segment.ms", "1", "0"},
      {"retention.ms", "-1", "-2"},
      {"retention.bytes", "-5", "x"},
      {"flush.messages", "1", "0"},
      {"flush.ms", "0", "-1"},
      {"max.compaction.lag.ms", "1", "0"},
      {"min.insync.replicas", "1", "0"},
      {"segment.index.bytes", "4", "3"},
      {"max.message.bytes", "0", "-1"},
      {"max.decompressed.message.bytes", "2147483639", "2147483640"},
      {"compression.gzip.level", "9", "0"},
      {"compression.gzip.level", "-1", "10"},
      {"compression.lz4.level", "17", "18"},
      {"compression.zstd.level", "-131072", "23"},
      {"local.retention.ms", "-2", "-3"},
      {"remote.copy.lag.ms", "-1", "-2"},
      {"compression.type", "zstd", "ZSTD"},
      {"compression.type", "uncompressed", "none"},
      {"compression.type", "producer", ""},
      {"message.timestamp.type", "LogAppendTime", "logappendtime"},
      {"cleanup.policy", "", "none"},
      {"cleanup.policy", "compact,delete", "compact;delete"},
      {"cleanup.policy", "compact", "compact,"},
      {"min.cleanable.dirty.ratio", "1", "1.5"},
      {"min.cleanable.dirty.ratio", "5e-1", "-0.1"},
      {"min.cleanable.dirty.ratio", "0", "nan"},
      {"preallocate", "true", "yes"},
      {"leader.replication.throttled.replicas", "0:1,1:2", "x"},
      {"leader.replication.throttled.replicas", "*", "0:"},
      {"follower.replication.throttled.replicas", "", "0:1,,1:2"},
      {"segment.ms", "9223372036854775807", "9223372036854775808"},
      {"segment.ms", "60000", "1K"},
      {"message.format.version", "2.8", "two"},
  };
  for (const auto& row : rows) {
    CHECK_MESSAGE(check_config(row.key, row.good) == row.good, row.key, "=", row.good);
    CHECK_MESSAGE(refused(row.key, row.bad), row.key, "=", row.bad);
  }
}

TEST_CASE("configs: how values are stored") {
  CHECK(check_config("segment.bytes", "64K") == "65536");
  CHECK(check_config("segment.bytes", "1M") == "1048576");
  CHECK(check_config("retention.bytes", "2G") == "2147483648");
  CHECK(refused("segment.bytes", "2G"));
  CHECK(check_config("segment.ms", " +5 ") == "5");
  CHECK(check_config("preallocate", " TRUE") == "true");
  CHECK(check_config("cleanup.policy", "compact, delete , compact") == "compact,delete");
  const ConfigMap checked = check_configs({{"segment.bytes", "1K"}, {"retention.ms", "7"}});
  CHECK(checked == ConfigMap{{"segment.bytes", "1024"}, {"retention.ms", "7"}});
}

TEST_CASE("configs: settings that are good each but not together") {
  CHECK_NOTHROW(check_configs({{"min.compaction.lag.ms", "5"}, {"max.compaction.lag.ms", "5"}}));
  const auto error = caught([] {
    check_configs({{"min.compaction.lag.ms", "6"}, {"max.compaction.lag.ms", "5"}});
  });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::invalid_config);
}

TEST_CASE("configs: an unknown key gets the nearest one") {
  const auto error = caught([] { check_config("retention.msec", "5"); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::invalid_config);
  CHECK(error->hint() == "did you mean 'retention.ms'?");
  CHECK(caught([] { check_config_key("segment.byte"); })->hint() == "did you mean 'segment.bytes'?");
  CHECK(refused("", "5"));
  CHECK(refused("log.segment.bytes.of.nothing.known", "5"));
}

TEST_CASE("configs: what they say to the log") {
  const LogConfig plain = log_config({});
  CHECK(plain.segment_bytes == 1073741824);
  CHECK(plain.max_message_bytes == 1048588);
  CHECK(plain.timestamp_type == TimestampType::create_time);

  const LogConfig set = log_config({{"segment.bytes", "1000"},
                                    {"segment.ms", "5"},
                                    {"index.interval.bytes", "0"},
                                    {"segment.index.bytes", "80"},
                                    {"max.message.bytes", "500"},
                                    {"message.timestamp.type", "LogAppendTime"}});
  CHECK(set.segment_bytes == 1000);
  CHECK(set.segment_ms == 5);
  CHECK(set.index_interval_bytes == 0);
  CHECK(set.segment_index_bytes == 80);
  CHECK(set.max_message_bytes == 500);
  CHECK(set.timestamp_type == TimestampType::log_append_time);

  CHECK(log_config({{"segment.bytes", "1000"}, {"internal.segment.bytes", "300"}}).segment_bytes == 300);
  // A file edited by hand.
  CHECK(log_config({{"segment.bytes", "-7"}, {"segment.ms", "soon"}}).segment_bytes == 1073741824);
}

TEST_CASE("configs: compression") {
  CHECK_FALSE(topic_compression({}));
  CHECK_FALSE(topic_compression({{"compression.type", "producer"}}));
  CHECK(topic_compression({{"compression.type", "uncompressed"}})->codec == Codec::none);
  CHECK(topic_compression({{"compression.type", "lz4"}})->codec == Codec::lz4);
  CHECK_FALSE(topic_compression({{"compression.type", "lz4"}, {"compression.zstd.level", "7"}})->level);
  CHECK(topic_compression({{"compression.type", "zstd"}, {"compression.zstd.level", "7"}})->level == 7);
  CHECK_FALSE(topic_compression({{"compression.type", "none"}}));
}
