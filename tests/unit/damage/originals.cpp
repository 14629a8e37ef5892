#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/log/partition_log.h"
#include "tests/support/archive.h"
#include "tests/support/log_maker.h"
#include "tests/unit/damage/partition.h"

namespace tk::test {
namespace {

/// Larger partitions would only make rounds slower.
constexpr std::size_t kMostBytes = 24 << 10;
/// Partitions taken of one broker's directory.
constexpr std::size_t kMostOfOne = 12;

Original original(std::string name, PartitionBytes files) {
  Original made;
  made.name = std::move(name);
  made.files = std::move(files);
  MemoryFileSystem fs;
  put(fs, made.files);
  const ReadBack read = read_back(fs);
  for (const Placed& placed : read.records) {
    made.records.insert(placed.record);
    made.within.insert(placed.within);
  }
  return made;
}

PartitionBytes read_directory(const std::string& path) {
  FileSystem& fs = posix_file_system();
  PartitionBytes files;
  for (const DirEntry& entry : fs.list(path)) {
    if (!entry.is_directory && entry.name != "committed-offsets.txt") {
      files[entry.name] = to_bytes(read_whole(fs, join_path(path, entry.name)));
    }
  }
  return files;
}

void add_broker(std::vector<Original>& all, const std::string& archive, std::string_view prefix) {
  std::map<std::string, PartitionBytes> partitions;
  for (const auto& [path, bytes] : read_archive(std::string(TK_FIXTURES "/") + archive + ".tar.zst")) {
    if (path.find("/data") == std::string::npos || path.find("/__") != std::string::npos) continue;
    const std::string directory = parent_path(path);
    if (base_name(directory).starts_with(prefix)) partitions[directory][base_name(path)] = bytes;
  }
  std::size_t taken = 0;
  for (auto& [directory, files] : partitions) {
    std::size_t size = 0;
    bool has_log = false;
    for (const auto& [name, bytes] : files) {
      size += bytes.size();
      has_log = has_log || (name.ends_with(kLogSuffix) && !bytes.empty());
    }
    if (!has_log || size > kMostBytes || taken == kMostOfOne) continue;
    all.push_back(original(archive + "/" + base_name(directory), std::move(files)));
    ++taken;
  }
}

/// What the writer leaves of these units in small segments.
PartitionBytes written(const LogMaker& maker) {
  MemoryFileSystem fs;
  PartitionLog::Options options;
  options.config.segment_bytes = 1500;
  options.config.index_interval_bytes = 200;
  PartitionLog log(fs, kPartition, std::move(options));
  log.begin();
  for (const MadeUnit& unit : maker.units()) {
    append_made(log, unit, LeaderEpoch(0));
  }
  log.close();
  PartitionBytes files;
  for (const DirEntry& entry : fs.list(kPartition)) {
    files[entry.name] = to_bytes(read_whole(fs, join_path(kPartition, entry.name)));
  }
  return files;
}

Original own_kafka(Codec codec) {
  LogMaker maker;
  Random random(static_cast<std::uint64_t>(codec) + 1);
  for (int i = 0; i < 18; ++i) {
    const std::string value = "value " + std::to_string(random.next()) + std::string(random.below(90), 'x');
    maker.batch({vectors::kT + i * 10, vectors::kT + i * 10 + 3, vectors::kT + i * 10 + 1}, codec, value);
    if (i % 5 == 4) maker.skip(3);
  }
  return original("tk/" + std::string(codec_name(codec)), written(maker));
}

Original own_json() {
  LogMaker maker;
  Random random(7);
  for (int i = 0; i < 40; ++i) {
    std::string value = "{\"n\":" + std::to_string(random.next()) + ",\"text\":\"" +
                        std::string(random.below(60), '{') + "\"}";
    if (i % 4 == 0) value = "\xff\x00 bytes";
    maker.json(value, vectors::kT + i);
  }
  Original made = original("tk/json", written(maker));
  made.is_json = true;
  return made;
}

std::vector<Original> collect() {
  std::vector<Original> all;
  const std::string fixtures = TK_FIXTURES;
  for (const char* name :
       {"magic0-codecs", "magic1-append-time", "magic1-compacted", "magic1-lz4-snappy", "mixed-magics"}) {
    const std::string log = read_whole(posix_file_system(), fixtures + "/legacy/" + name + ".log");
    all.push_back(original(name, {{segment_file_name(Offset(0), kLogSuffix), to_bytes(log)}}));
  }
  for (const char* name : {"txn-0", "txn-open-0"}) {
    PartitionBytes files = read_directory(fixtures + "/txn/" + name);
    files.merge(read_directory(fixtures + "/txn_state/" + name));
    all.push_back(original(name, std::move(files)));
  }
  add_broker(all, "kafka-4.4-damaged", "ok-");
  add_broker(all, "kafka-upgraded", "");
  add_broker(all, "kafka-4.4-clients", "");
  for (const Codec codec : {Codec::none, Codec::gzip, Codec::snappy, Codec::lz4, Codec::zstd}) {
    all.push_back(own_kafka(codec));
  }
  all.push_back(own_json());
  return all;
}

}  // namespace

const std::vector<Original>& originals() {
  static const std::vector<Original> all = collect();
  return all;
}

}  // namespace tk::test
