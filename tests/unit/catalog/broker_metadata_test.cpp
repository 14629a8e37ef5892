// A broker's metadata log replayed: what records add up to (kafka-on-disk.md §13.4).
#include "core/catalog/broker_metadata.h"

#include <doctest/doctest.h>

#include <functional>

#include "core/format/batch.h"
#include "core/format/internal_record.h"
#include "core/io/memory_file_system.h"

using namespace tk;

namespace {

const std::string kLog = "/d/__cluster_metadata-0/00000000000000000000.log";

/// Batches of one record each, as a quorum's leader appends them.
class Log {
 public:
  void add(std::string_view name, int version, const std::function<void(SchemaValue&)>& fill = {}) {
    SchemaValue value = SchemaValue::of(*internal_schemas().find(name, version));
    if (fill) fill(value);
    Buffer record;
    REQUIRE(!encode_metadata_record(name, version, value, record));
    add_raw(as_text(record.view()));
  }
  void add_raw(std::string_view value) { add_batch(std::nullopt, value, 0); }
  void add_control(std::string_view key, std::string_view value) { add_batch(key, value, kControlBit); }
  void write(FileSystem& fs, const std::string& path) const {
    fs.make_directories(parent_path(path));
    const auto file = fs.open(path, OpenMode::create);
    file->truncate(0);
    file->write_at(0, bytes_.view());
  }
  std::int64_t next = 0;

 private:
  void add_batch(const std::optional<std::string_view>& key, std::string_view value, std::uint16_t bits) {
    builder_.start();
    builder_.add(bytes_, 1, key, std::optional(value), {});
    BatchFields fields;
    fields.base_offset = Offset(next++);
    fields.attribute_bits = bits;
    builder_.finish(fields, {}, compressor_, bytes_);
  }

  Buffer bytes_;
  BatchBuilder builder_;
  Compressor compressor_;
};

Uuid id_of(std::uint8_t n) {
  Uuid id;
  id.bytes[15] = n;
  return id;
}

void topic(Log& log, const std::string& name, std::uint8_t id, int partitions = 1) {
  log.add("TopicRecord", 0, [&](SchemaValue& v) {
    v["name"] = name;
    v["topic_id"] = id_of(id);
  });
  for (int i = 0; i < partitions; ++i) {
    log.add("PartitionRecord", 1, [&](SchemaValue& v) {
      v["partition_id"] = i;
      v["topic_id"] = id_of(id);
      v["replicas"] = SchemaValue::integers({1, 2});
      v["isr"] = SchemaValue::integers({1, 2});
      v["leader"] = 1;
    });
  }
}

void config(Log& log, const std::string& name, const std::string& key,
            const std::optional<std::string>& value) {
  log.add("ConfigRecord", 0, [&](SchemaValue& v) {
    v["resource_type"] = 2;
    v["resource_name"] = name;
    v["name"] = key;
    v["value"] = value ? SchemaValue(*value) : SchemaValue(SchemaValue::Null{});
  });
}

BrokerMetadata replayed(const Log& log, MetadataDetail detail = MetadataDetail::all) {
  MemoryFileSystem fs;
  log.write(fs, kLog);
  const auto metadata = read_broker_metadata(fs, "/d", detail);
  REQUIRE(metadata);
  return *metadata;
}

void footer(Log& log) {
  log.add_control(std::string_view("\0\0\0\4", 4), std::string_view("\0\0\0", 3));
}

}  // namespace

TEST_CASE("broker metadata: a directory without the log has none") {
  MemoryFileSystem fs;
  fs.make_directories("/d/t-0");
  CHECK(!read_broker_metadata(fs, "/d"));
}

TEST_CASE("broker metadata: topics, partitions, configs") {
  Log log;
  topic(log, "a", 1, 3);
  topic(log, "b", 2);
  config(log, "a", "retention.ms", "1000");
  config(log, "a", "cleanup.policy", "compact");
  config(log, "a", "retention.ms", std::nullopt);
  config(log, "b", "segment.ms", "5");
  log.add("RemoveTopicRecord", 0, [](SchemaValue& v) { v["topic_id"] = id_of(2); });
  topic(log, "b", 3);  // made anew: another id, and none of the old settings
  log.add("PartitionChangeRecord", 1, [](SchemaValue& v) {
    v["partition_id"] = 1;
    v["topic_id"] = id_of(1);
    v["leader"] = 2;
    v["isr"] = SchemaValue::integers({2});
  });
  const BrokerMetadata metadata = replayed(log);
  REQUIRE(metadata.find("a") != nullptr);
  CHECK(metadata.find("a")->id == id_of(1));
  CHECK(metadata.find("a")->partitions.size() == 3);
  CHECK(metadata.find("a")->configs == ConfigMap{{"cleanup.policy", "compact"}});
  CHECK(metadata.find("a")->partitions.at(1).leader == 2);
  CHECK(metadata.find("a")->partitions.at(1).leader_epoch == 1);
  CHECK(metadata.find("a")->partitions.at(1).in_sync == std::vector<std::int32_t>{2});
  CHECK(metadata.find("a")->partitions.at(0).leader == 1);
  CHECK(metadata.find("b")->id == id_of(3));
  CHECK(metadata.find("b")->configs.empty());
  CHECK(metadata.name_of(id_of(3)) == "b");
  CHECK(metadata.name_of(id_of(2)).empty());
  CHECK(metadata.end == Offset(log.next));
  const BrokerMetadata topics = replayed(log, MetadataDetail::topics);
  CHECK(topics.find("a")->configs == metadata.find("a")->configs);
  CHECK(topics.find("a")->partitions.at(1).leader == 1);  // who leads now is not asked for
}

TEST_CASE("broker metadata: records of a transaction take effect together or not at all") {
  Log log;
  log.add("BeginTransactionRecord", 0);
  topic(log, "committed", 1);
  log.add("EndTransactionRecord", 0);
  log.add("BeginTransactionRecord", 0);
  topic(log, "aborted", 2);
  log.add("AbortTransactionRecord", 0);
  log.add("BeginTransactionRecord", 0);
  topic(log, "open", 3);
  const BrokerMetadata metadata = replayed(log);
  CHECK(metadata.topics.size() == 1);
  CHECK(metadata.find("committed") != nullptr);
}

TEST_CASE("broker metadata: what a later release or damage has written is stepped over") {
  Log log;
  topic(log, "a", 1);
  log.add_raw(std::string_view("\x01\x7f\x00\x00", 4));  // an unknown type
  log.add_raw(std::string_view("\x01\x02\x63\x00", 4));  // a topic of version 99
  log.add_raw("\x62");                                   // another frame
  log.add_raw("");
  topic(log, "b", 2);
  const BrokerMetadata metadata = replayed(log);
  CHECK(metadata.topics.size() == 2);
  CHECK(metadata.unknown_records >= 3);
}

TEST_CASE("broker metadata: the newest whole snapshot, then the log behind it") {
  MemoryFileSystem fs;
  const std::string directory = "/d/__cluster_metadata-0/";
  Log log;
  topic(log, "old", 1);    // offsets 0 and 1
  topic(log, "newer", 2);  // 2 and 3
  log.write(fs, kLog);
  Log snapshot;
  topic(snapshot, "of-snapshot", 9);
  footer(snapshot);
  snapshot.write(fs, directory + "00000000000000000002-0000000001.checkpoint");
  Log torn;
  topic(torn, "torn", 8);  // no footer
  torn.write(fs, directory + "00000000000000000004-0000000001.checkpoint");
  const auto metadata = read_broker_metadata(fs, "/d");
  REQUIRE(metadata);
  CHECK(metadata->find("of-snapshot") != nullptr);
  CHECK(metadata->find("newer") != nullptr);
  CHECK(metadata->find("old") == nullptr);
  CHECK(metadata->find("torn") == nullptr);
}
