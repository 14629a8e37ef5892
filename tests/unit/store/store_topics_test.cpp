#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/io/memory_file_system.h"
#include "core/io/turn_lock.h"
#include "core/store/store.h"
#include "tests/unit/io/caught.h"
#include "tests/unit/io/temp_directory.h"
#include "tests/unit/store/store_files.h"

using namespace tk;
using namespace tk::test;

namespace {

const Store::Options kNoWait{.lock_wait = 0, .default_format = {}};

Store writing(FileSystem& fs) {
  return Store::open_for_writing(fs, "/d", kNoWait);
}
Store looking(FileSystem& fs) {
  return Store::open(fs, "/d", {});
}

NewTopic topic(std::string name, std::int32_t partitions = 1, ConfigMap configs = {}) {
  return {std::move(name), partitions, {}, std::move(configs)};
}

std::optional<ErrorCode> code(const std::optional<Error>& error) {
  return error ? std::optional(error->code()) : std::nullopt;
}

nlohmann::json state(FileSystem& fs) {
  return nlohmann::json::parse(read_whole(fs, "/d/tk-topics.json"));
}

void cut_power(MemoryFileSystem& fs, UnsyncedFate fate, std::uint64_t seed) {
  fs.on_call = nullptr;
  fs.power_off(fate, seed);
  fs.power_on();
}

}  // namespace

TEST_CASE("create: entry, directories, metadata") {
  MemoryFileSystem fs;
  Store store = writing(fs);
  const TopicInfo& made = store.create_topic(topic("orders", 3, {{"segment.bytes", "1K"}}));
  CHECK(made.partitions.size() == 3);
  CHECK(made.tk_made);
  CHECK(made.partitions[2].tk_made);
  CHECK(made.format == TopicFormat::json);
  CHECK(directories(fs, "/d") == "orders-0 orders-1 orders-2 ");
  const auto entry = state(fs).at("topics").at("orders");
  const std::string id = entry.at("id");
  CHECK(id.size() == 22);
  CHECK(id == made.id->text());
  CHECK(entry.at("partitions") == 3);
  CHECK(entry.at("format") == "json");
  CHECK(entry.at("configs") == nlohmann::json{{"segment.bytes", "1024"}});
  CHECK(state(fs).at("format") == 1);
  CHECK(read_whole(fs, "/d/orders-2/partition.metadata") == "version: 0\ntopic_id: " + id);
  cut_power(fs, UnsyncedFate::all_lost, 0);
  CHECK(directories(fs, "/d") == "orders-0 orders-1 orders-2 ");
  CHECK(looking(fs).find("orders")->id->text() == id);
}

TEST_CASE("create: a broker's directory gets kafka topics, --format and $TK_FORMAT decide otherwise") {
  MemoryFileSystem fs;
  put(fs, "/d/meta.properties", "version=1\n");
  CHECK(writing(fs).create_topic(topic("a")).format == TopicFormat::kafka);
  CHECK(fs.stat("/d/a-0/partition.metadata"));
  CHECK(writing(fs).create_topic({"b", 1, TopicFormat::json, {}}).format == TopicFormat::json);
  Store store = Store::open_for_writing(fs, "/e", {.lock_wait = 0, .default_format = TopicFormat::kafka});
  CHECK(store.create_topic(topic("c")).format == TopicFormat::kafka);
}

TEST_CASE("create: what is refused changes nothing") {
  MemoryFileSystem fs;
  Store store = writing(fs);
  store.create_topic(topic("a.b"));
  fs.make_directories("/d/found-3");
  const std::string before = read_whole(fs, "/d/tk-topics.json");
  CHECK(code(caught([&] { store.create_topic(topic("a.b")); })) == ErrorCode::topic_already_exists);
  CHECK(code(caught([&] { store.create_topic(topic("found")); })) == ErrorCode::topic_already_exists);
  CHECK(code(caught([&] { store.create_topic(topic("a_b")); })) == ErrorCode::invalid_topic);
  CHECK(code(caught([&] { store.create_topic(topic("a/b")); })) == ErrorCode::invalid_topic);
  CHECK(code(caught([&] { store.create_topic(topic("t", 0)); })) == ErrorCode::invalid_partitions);
  CHECK(code(caught([&] { store.create_topic(topic("t", INT32_MAX)); })) == ErrorCode::invalid_partitions);
  CHECK(code(caught([&] {
          store.create_topic(topic("t", 1, {{"nonsense", "1"}}));
        })) == ErrorCode::invalid_config);
  CHECK(code(caught([&] {
          store.create_topic(topic("t", 1, {{"segment.bytes", "5"}}));
        })) == ErrorCode::invalid_config);
  CHECK(read_whole(fs, "/d/tk-topics.json") == before);
  CHECK(directories(fs, "/d") == "a.b-0 found-3 ");
}

TEST_CASE("create: sees what another process has done since") {
  MemoryFileSystem fs;
  Store one = writing(fs);
  Store two = writing(fs);
  one.create_topic(topic("a"));
  two.create_topic(topic("b"));
  CHECK(state(fs).at("topics").size() == 2);
  CHECK(code(caught([&] { two.create_topic(topic("a")); })) == ErrorCode::topic_already_exists);
}

TEST_CASE("create: a failure or a power cut at any call leaves no topic, or one that can be used") {
  for (const DiskFate fate : {DiskFate::fails, DiskFate::power_off}) {
    for (const UnsyncedFate left : {UnsyncedFate::all_lost, UnsyncedFate::random_blocks}) {
      bool completed = false;
      std::uint64_t at = 0;
      for (; !completed && at < 100; ++at) {
        MemoryFileSystem fs;
        writing(fs).create_topic(topic("old"));
        {
          Store store = writing(fs);
          const std::uint64_t begin = fs.calls();
          fs.on_call = [&](const DiskCall& call) {
            return call.number == begin + at ? fate : DiskFate::done;
          };
          completed = !caught([&] { store.create_topic(topic("new", 2, {{"segment.bytes", "500"}})); });
        }
        fs.on_call = nullptr;
        if (fate == DiskFate::power_off) cut_power(fs, left, at);
        Store after = writing(fs);
        CHECK(after.find("old") != nullptr);
        if (after.find("new") == nullptr) {
          CHECK_FALSE(completed);
          CHECK_NOTHROW(after.create_topic(topic("new", 2)));
          continue;
        }
        const TopicInfo& made = *after.find("new");
        CHECK(made.partitions.size() == 2);
        CHECK(made.tk_made);
        CHECK(made.configs.size() == 1);
        for (const PartitionInfo& partition : made.partitions) {
          CHECK_NOTHROW(after.open_for_append(made, partition.partition));
          CHECK(fs.stat(partition.directory));
        }
      }
      CHECK(completed);
    }
  }
}

TEST_CASE("alter: more partitions and other configs") {
  MemoryFileSystem fs;
  Store store = writing(fs);
  store.create_topic(topic("t", 2, {{"retention.ms", "5"}, {"segment.ms", "9"}}));
  const TopicInfo& altered =
      store.alter_topic("t", 4, {{"segment.bytes", "2K"}}, {"retention.ms", "flush.ms"});
  CHECK(altered.partitions.size() == 4);
  CHECK(altered.partitions[3].tk_made);
  CHECK(altered.configs == ConfigMap{{"segment.bytes", "2048"}, {"segment.ms", "9"}});
  CHECK(directories(fs, "/d") == "t-0 t-1 t-2 t-3 ");
  CHECK(read_whole(fs, "/d/t-3/partition.metadata") == read_whole(fs, "/d/t-0/partition.metadata"));
  CHECK(store.alter_topic("t", 4, {}, {}).partitions.size() == 4);

  const std::string before = read_whole(fs, "/d/tk-topics.json");
  CHECK(code(caught([&] { store.alter_topic("t", 3, {}, {}); })) == ErrorCode::invalid_partitions);
  CHECK(code(caught([&] { store.alter_topic("t", INT32_MAX, {}, {}); })) == ErrorCode::invalid_partitions);
  CHECK(code(caught([&] { store.alter_topic("t", {}, {{"x", "y"}}, {}); })) == ErrorCode::invalid_config);
  CHECK(code(caught([&] { store.alter_topic("t", {}, {}, {"x"}); })) == ErrorCode::invalid_config);
  CHECK(code(caught([&] { store.alter_topic("u", 9, {}, {}); })) == ErrorCode::unknown_topic_or_partition);
  CHECK(read_whole(fs, "/d/tk-topics.json") == before);
}

TEST_CASE("alter: a topic that tk did not make gets an entry, and is still not trusted") {
  MemoryFileSystem fs;
  put(fs, "/d/t-0/" + kSegment, batch_a());
  put(fs, "/d/t-0/partition.metadata", "version: 0\ntopic_id: Zk3TgNzYQ1qwQXZ0yVnZ0g");
  fs.make_directories("/d/t-2");
  Store store = writing(fs);
  const TopicInfo& altered = store.alter_topic("t", {}, {{"segment.ms", "5"}}, {});
  CHECK(altered.partitions.size() == 2);  // those that are there
  CHECK_FALSE(altered.tk_made);
  CHECK_FALSE(altered.partitions[0].tk_made);
  CHECK(altered.format == TopicFormat::kafka);
  CHECK(state(fs).at("topics").at("t").at("id") == "Zk3TgNzYQ1qwQXZ0yVnZ0g");
  CHECK(code(caught([&] { store.alter_topic("t", 2, {}, {}); })) == ErrorCode::invalid_partitions);
  CHECK(store.alter_topic("t", 4, {}, {}).partitions.size() == 4);
  CHECK(directories(fs, "/d") == "t-0 t-1 t-2 t-3 ");
  CHECK(looking(fs).find("t")->configs.size() == 1);

  // The largest number that a directory can bear.
  fs.make_directories("/d/u-2147483647");
  CHECK_NOTHROW(store.alter_topic("u", {}, {{"segment.ms", "5"}}, {}));
  CHECK(code(caught([&] { store.alter_topic("u", 100000, {}, {}); })) == ErrorCode::invalid_partitions);

  // A foreign partition beyond those that tk made does not become one of them by growth.
  store.create_topic(topic("v", 1));
  fs.make_directories("/d/v-3");
  CHECK_FALSE(store.alter_topic("v", 5, {}, {}).partitions[3].tk_made);
}

TEST_CASE("delete: everything goes, and a topic of that name begins anew") {
  MemoryFileSystem fs;
  Store store = writing(fs);
  store.create_topic(topic("t", 2));
  store.create_topic(topic("t-0", 1));
  put(fs, "/d/t-0/" + kSegment, batch_a());
  fs.make_directories("/d/t-1/strange/deep");
  put(fs, "/d/t-1/strange/deep/file");
  put(fs, "/d/log-start-offset-checkpoint", "0\n2\nt 0 5\nt-0 0 1\n");
  CHECK(store.would_delete("t") == std::vector<std::string>{"/d/t-0", "/d/t-1"});
  CHECK(store.delete_topic("t") == std::vector<std::string>{"/d/t-0", "/d/t-1"});
  CHECK(directories(fs, "/d") == "t-0-0 ");
  CHECK(read_whole(fs, "/d/log-start-offset-checkpoint") == "0\n1\nt-0 0 1\n");
  CHECK(store.find("t") == nullptr);
  CHECK(code(caught([&] { store.delete_topic("t"); })) == ErrorCode::unknown_topic_or_partition);
  CHECK(code(caught([&] { static_cast<void>(looking(fs).would_delete("t")); })) ==
        ErrorCode::unknown_topic_or_partition);
  CHECK(store.create_topic(topic("t")).partitions.size() == 1);
}

TEST_CASE("delete: leftovers of earlier deletions go, too") {
  const std::string id(32, '5');
  for (const bool broker : {false, true}) {
    MemoryFileSystem fs;
    if (broker) put(fs, "/d/meta.properties", "version=1\n");
    put(fs, "/d/t-0." + id + "-delete/" + kSegment, batch_a());
    put(fs, "/d/u-0." + id + "-delete/" + kSegment, batch_a());
    put(fs, "/d/t-1." + id + "-stray/" + kSegment, batch_a());
    put(fs, "/d/t-0/" + kSegment, batch_a());
    Store store = writing(fs);
    store.delete_topic("t");
    // In a broker's directory what else waits is the broker's.
    CHECK(directories(fs, "/d") ==
          (broker ? "t-1." + id + "-stray u-0." + id + "-delete " : "t-1." + id + "-stray "));
  }
  // A crash after the entry was dropped: the same command again finishes the work.
  MemoryFileSystem fs;
  const std::string name(249, 'x');
  fs.make_directories("/d/" + name.substr(0, 213) + "-0." + id + "-delete");
  Store store = writing(fs);
  CHECK(store.delete_topic(name).size() == 1);
  CHECK(directories(fs, "/d").empty());
}

TEST_CASE("delete: waits for a writer") {
  MemoryFileSystem fs;
  Store store = writing(fs);
  store.create_topic(topic("t"));
  TurnLock writer(fs, "/d/t-0/.lock");
  writer.acquire(0);
  CHECK(code(caught([&] { store.delete_topic("t"); })) == ErrorCode::log_dir_locked);
  CHECK(looking(fs).find("t") != nullptr);
  writer.release();
  CHECK_NOTHROW(store.delete_topic("t"));
}

TEST_CASE("delete: a failure or a power cut at any call leaves what the next delete finishes") {
  for (const DiskFate fate : {DiskFate::fails, DiskFate::power_off}) {
    for (const UnsyncedFate left : {UnsyncedFate::all_lost, UnsyncedFate::random_blocks}) {
      bool completed = false;
      std::uint64_t at = 0;
      for (; !completed && at < 200; ++at) {
        MemoryFileSystem fs;
        writing(fs).create_topic(topic("keep"));
        writing(fs).create_topic(topic("t", 2, {{"segment.ms", "5"}}));
        put(fs, "/d/t-0/" + kSegment, json_records());
        put(fs, "/d/log-start-offset-checkpoint", "0\n1\nt 0 5\n");
        {
          Store store = writing(fs);
          const std::uint64_t begin = fs.calls();
          fs.on_call = [&](const DiskCall& call) {
            return call.number == begin + at ? fate : DiskFate::done;
          };
          completed = !caught([&] { store.delete_topic("t"); });
        }
        fs.on_call = nullptr;
        if (fate == DiskFate::power_off) cut_power(fs, left, at);
        Store after = writing(fs);
        // Never a topic without its entry: that would have lost its configs.
        if (const TopicInfo* found = after.find("t")) {
          CHECK(found->configs.size() == 1);
          CHECK_FALSE(completed);
        }
        if (!completed) {
          caught([&] { after.delete_topic("t"); });
        }
        CHECK(directories(fs, "/d") == "keep-0 ");
        CHECK(after.find("t") == nullptr);
        CHECK(after.find("keep") != nullptr);
        CHECK_NOTHROW(after.create_topic(topic("t")));
        CHECK(read_whole(fs, "/d/log-start-offset-checkpoint") == "0\n0\n");
      }
      CHECK(completed);
    }
  }
}

TEST_CASE("delete: on a real disk, the longest name, and links are not followed (R27)") {
  TempDirectory temp;
  FileSystem& fs = posix_file_system();
  const std::string directory = temp / "d";
  const std::string name(249, 'x');
  Store store = Store::open_for_writing(fs, directory, {});
  store.create_topic(topic(name));
  put(fs, temp / "outside/file", "kept");
  std::filesystem::create_directory_symlink(temp / "outside", directory + "/" + name + "-0/link");
  CHECK(store.delete_topic(name).size() == 1);
  CHECK(directories(fs, directory).empty());
  CHECK(read_whole(fs, temp / "outside/file") == "kept");
}
