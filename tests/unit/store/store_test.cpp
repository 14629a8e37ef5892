#include "core/store/store.h"

#include <doctest/doctest.h>

#include "core/io/memory_file_system.h"
#include "core/io/turn_lock.h"
#include "tests/unit/io/caught.h"
#include "tests/unit/store/store_files.h"

using namespace tk;
using namespace tk::test;

namespace {

Store open(FileSystem& fs) {
  return Store::open(fs, "/d", {});
}

std::string names(const std::vector<TopicInfo>& topics) {
  std::string text;
  for (const TopicInfo& topic : topics) text += topic.name + " ";
  return text;
}

std::string numbers(const TopicInfo& topic) {
  std::string text;
  for (const PartitionInfo& partition : topic.partitions)
    text += std::to_string(partition.partition.value()) + " ";
  return text;
}

constexpr const char* kState =
    R"({"format":1,"topics":{"t":{"id":"Zk3TgNzYQ1qwQXZ0yVnZ0g","partitions":2,"format":"kafka","configs":{"segment.bytes":"300"}}}})";

}  // namespace

TEST_CASE("store: a missing directory, and a file in its place") {
  MemoryFileSystem fs;
  CHECK(caught([&] { open(fs); })->code() == ErrorCode::storage_error);
  CHECK(caught([&] { open(fs); })->path() == "/d");
  put(fs, "/d");
  CHECK(caught([&] { open(fs); })->code() == ErrorCode::storage_error);
}

TEST_CASE("store: partition directories are topics, without an entry and with gaps") {
  MemoryFileSystem fs;
  for (const char* name : {"t-0", "t-2", "t-10", "u-1"}) fs.make_directories(std::string("/d/") + name);
  fs.make_directories("/d/lost+found");
  const Store store = open(fs);
  CHECK(names(store.topics()) == "t u ");
  CHECK(numbers(*store.find("t")) == "0 2 10 ");
  CHECK(store.find("t")->partitions[1].directory == "/d/t-2");
  CHECK_FALSE(store.find("t")->tk_made);
  CHECK_FALSE(store.find("t")->partitions[0].tk_made);
  CHECK_FALSE(store.find("t")->id);
  CHECK(store.find("x") == nullptr);
  CHECK(store.notes().size() == 1);
  CHECK_FALSE(store.state_error());
}

TEST_CASE("store: what set-aside directories hold is apart (R27, R30)") {
  MemoryFileSystem fs;
  const std::string id(32, '0');
  put(fs, "/d/t-0." + id + "-stray/" + kSegment, batch_a() + batch_b());
  put(fs, "/d/t-1." + id + "-future/" + kSegment, batch_a());
  fs.make_directories("/d/t-1." + id + "-delete");
  fs.make_directories("/d/u-0");
  const Store store = open(fs);
  CHECK(names(store.topics()) == "u ");
  REQUIRE(store.set_aside().size() == 3);
  std::string states;
  for (const TopicInfo& topic : store.set_aside()) {
    CHECK(topic.name == "t");
    states += std::string(partition_state_name(topic.state)) + " ";
    if (topic.state != PartitionState::stray) continue;
    CHECK(topic.format == TopicFormat::kafka);
    CHECK(store.view(topic.partitions.at(0)).log_end == Offset(2));
  }
  CHECK(states == "delete stray future ");
  const auto error = caught([&] { static_cast<void>(store.resolve("t")); });
  REQUIRE(error);
  CHECK(error->code() == ErrorCode::unknown_topic_or_partition);
  CHECK(error->hint().find("/d/t-") != std::string::npos);
}

TEST_CASE("store: TOPIC and TOPIC-P") {
  MemoryFileSystem fs;
  for (const char* name : {"a-0", "a-1", "a-1-0", "-b-0", "orders-0"})
    fs.make_directories(std::string("/d/") + name);
  const Store store = open(fs);
  CHECK(store.resolve("a").topic->name == "a");
  CHECK_FALSE(store.resolve("a").partition);
  // The topic that bears the whole name comes first.
  CHECK(store.resolve("a-1").topic->name == "a-1");
  CHECK_FALSE(store.resolve("a-1").partition);
  CHECK(store.resolve("a-0").topic->name == "a");
  CHECK(store.resolve("a-0").partition == PartitionId(0));
  CHECK(store.resolve("a-1-0").topic->name == "a-1");
  CHECK(store.resolve("-b").topic->name == "-b");
  const auto typo = caught([&] { static_cast<void>(store.resolve("order")); });
  CHECK(typo->code() == ErrorCode::unknown_topic_or_partition);
  CHECK(typo->hint() == "did you mean 'orders'?");
  const auto number = caught([&] { static_cast<void>(store.resolve("a-7")); });
  CHECK(number->code() == ErrorCode::unknown_topic_or_partition);
  CHECK(number->message() == "topic 'a' has no partition 7, but 0 to 1");
}

TEST_CASE("store: the format is what segments show, else the entry's, else the directory's") {
  MemoryFileSystem fs;
  put(fs, "/d/tk-topics.json", kState);
  CHECK(open(fs).find("t")->format == TopicFormat::kafka);
  put(fs, "/d/t-1/" + kSegment, json_records());
  CHECK(open(fs).find("t")->format == TopicFormat::json);

  put(fs, "/d/u-0/" + kSegment);
  CHECK(open(fs).find("u")->format == TopicFormat::json);
  CHECK(Store::open(fs, "/d", {.lock_wait = 0, .default_format = TopicFormat::kafka}).find("u")->format ==
        TopicFormat::kafka);
  put(fs, "/d/meta.properties", "garbage");
  CHECK(open(fs).is_broker());
  CHECK(open(fs).find("u")->format == TopicFormat::kafka);
  CHECK(open(fs).default_format() == TopicFormat::kafka);
  CHECK(Store::open(fs, "/d", {.lock_wait = 0, .default_format = TopicFormat::json}).default_format() ==
        TopicFormat::json);
  // A later segment tells where the first is empty, and a unit behind damage where nothing else does.
  put(fs, "/d/u-0/00000000000000000005.log", from_hex("0000000000000005000000027b7d"));
  CHECK(open(fs).find("u")->format == TopicFormat::json);
  put(fs, "/d/v-0/" + kSegment, std::string(100, '\xFF') + batch_b());
  CHECK(Store::open(fs, "/d", {.lock_wait = 0, .default_format = TopicFormat::json}).find("v")->format ==
        TopicFormat::kafka);
}

TEST_CASE("store: ids, configs and directories that are not there yet") {
  MemoryFileSystem fs;
  put(fs, "/d/tk-topics.json", kState);
  put(fs, "/d/t-5/" + kSegment, batch_a());
  put(fs, "/d/u-0/partition.metadata", "version: 0\ntopic_id: Zk3TgNzYQ1qwQXZ0yVnZ0h\n");
  put(fs, "/d/v-0/partition.metadata", "damaged");
  const Store store = open(fs);
  const TopicInfo& topic = *store.find("t");
  CHECK(topic.id->text() == "Zk3TgNzYQ1qwQXZ0yVnZ0g");
  CHECK(topic.configs == ConfigMap{{"segment.bytes", "300"}});
  CHECK(topic.tk_made);
  CHECK(numbers(topic) == "0 1 5 ");
  CHECK(topic.partitions[0].tk_made);
  CHECK_FALSE(topic.partitions[2].tk_made);  // not of those that tk made
  const LogView view = store.view(topic.partitions[0]);
  CHECK(view.empty());
  CHECK(view.log_end == Offset(0));
  CHECK_FALSE(store.find("v")->id);
  CHECK_FALSE(fs.stat("/d/t-0"));
}

TEST_CASE("store: in a broker's directory no index is a recovery point") {
  MemoryFileSystem fs;
  put(fs, "/d/tk-topics.json", kState);
  put(fs, "/d/replication-offset-checkpoint");
  const Store store = open(fs);
  CHECK(store.find("t")->tk_made);
  CHECK_FALSE(store.find("t")->partitions[0].tk_made);
}

TEST_CASE("store: the log start offset of the checkpoint") {
  MemoryFileSystem fs;
  put(fs, "/d/t-0/" + kSegment, batch_a() + batch_b() + batch_c());
  put(fs, "/d/log-start-offset-checkpoint", "0\n1\nt 0 2\n");
  CHECK(open(fs).view(open(fs).find("t")->partitions[0]).log_start == Offset(2));
  put(fs, "/d/log-start-offset-checkpoint", "0\n1\nt 0 4\n");  // beyond the end
  CHECK(open(fs).view(open(fs).find("t")->partitions[0]).log_start == Offset(0));
  put(fs, "/d/log-start-offset-checkpoint", "9\n");
  CHECK(open(fs).notes().size() == 1);
  CHECK(open(fs).view(open(fs).find("t")->partitions[0]).log_start == Offset(0));
}

TEST_CASE("store: transactions, and partitions that cannot have any") {
  MemoryFileSystem fs;
  put(fs, "/d/u-0/" + kSegment, batch_transaction());
  put(fs, "/d/tk-topics.json", kState);
  put(fs, "/d/t-0/" + kSegment, batch_transaction());
  const auto last_stable = [&](const char* topic) {
    const Store store = open(fs);
    const PartitionInfo& partition = store.find(topic)->partitions[0];
    const LogView view = store.view(partition);
    return store.transactions(partition, view).last_stable(view.log_end).value();
  };
  CHECK(last_stable("u") == 0);
  // Listed, and without a snapshot: not even looked at, which this open transaction shows.
  CHECK(last_stable("t") == 2);
  put(fs, "/d/t-0/00000000000000000002.snapshot");
  CHECK(last_stable("t") == 0);
  put(fs, "/d/u-0/" + kSegment, batch_transaction() + batch_commit());
  CHECK(last_stable("u") == 3);
}

TEST_CASE("store: a state file that cannot be used stops writers, not readers") {
  const std::pair<const char*, ErrorCode> files[] = {
      {R"({"format":2,"topics":{}})", ErrorCode::unsupported_version},
      {R"({"format":1,"top)", ErrorCode::corrupt_state}};
  for (const auto& [content, code] : files) {
    MemoryFileSystem fs;
    put(fs, "/d/t-0/" + kSegment, batch_a());
    put(fs, "/d/tk-topics.json", content);
    const Store store = open(fs);
    REQUIRE(store.state_error());
    CHECK(store.state_error()->code() == code);
    CHECK(store.view(store.find("t")->partitions[0]).log_end == Offset(1));
    CHECK(caught([&] { Store::open_for_writing(fs, "/d", {}); })->code() == code);
    CHECK(read_whole(fs, "/d/tk-topics.json") == content);
  }
}

TEST_CASE("store: writers share the directory, a live broker has it alone") {
  MemoryFileSystem fs;
  {
    const Store one = Store::open_for_writing(fs, "/d", {});
    const Store two = Store::open_for_writing(fs, "/d", {});
    CHECK_FALSE(fs.open_lock("/d/.lock")->try_lock(LockKind::exclusive, 0, 0));
  }
  const auto broker = fs.open_lock("/d/.lock");
  REQUIRE(broker->try_lock(LockKind::exclusive, 0, 0));
  CHECK(caught([&] { Store::open_for_writing(fs, "/d", {}); })->code() == ErrorCode::log_dir_locked);
  CHECK_NOTHROW(open(fs));
}

TEST_CASE("store: looking changes nothing") {
  MemoryFileSystem fs;
  put(fs, "/d/tk-topics.json", kState);
  put(fs, "/d/u-0/" + kSegment, batch_a());
  put(fs, "/d/log-start-offset-checkpoint", "0\n1\nt 0 4\n");
  fs.on_call = [](const DiskCall& call) {
    const bool looks = call.kind == DiskCall::Kind::read || call.kind == DiskCall::Kind::list ||
                       call.kind == DiskCall::Kind::open;
    CHECK(looks);
    return DiskFate::done;
  };
  const Store store = open(fs);
  for (const TopicInfo& topic : store.topics()) {
    for (const PartitionInfo& partition : topic.partitions)
      static_cast<void>(store.transactions(partition, store.view(partition)));
  }
  CHECK(store.would_delete("u").size() == 1);
  CHECK_FALSE(fs.stat("/d/.lock"));
}

TEST_CASE("store: appending removes the clean-shutdown marker of a broker first") {
  MemoryFileSystem fs;
  put(fs, "/d/meta.properties", "version=1\n");
  put(fs, "/d/.kafka_cleanshutdown");
  put(fs, "/d/t-0/" + kSegment, batch_a());
  Store store = Store::open_for_writing(fs, "/d", {});
  CHECK(fs.stat("/d/.kafka_cleanshutdown"));
  const auto log = store.open_for_append(*store.find("t"), PartitionId(0));
  CHECK(log->directory() == "/d/t-0");
  fs.power_off(UnsyncedFate::all_lost);
  fs.power_on();
  CHECK_FALSE(fs.stat("/d/.kafka_cleanshutdown"));
}

TEST_CASE("store: appending makes a directory that is missing, with the topic's settings") {
  MemoryFileSystem fs;
  put(fs, "/d/tk-topics.json", kState);
  put(fs, "/d/log-start-offset-checkpoint", "0\n1\nt 0 4\n");
  Store store = Store::open_for_writing(fs, "/d", {});
  const auto log = store.open_for_append(*store.find("t"), PartitionId(0));
  CHECK(log->config().segment_bytes == 300);
  CHECK(read_whole(fs, "/d/t-0/partition.metadata") == "version: 0\ntopic_id: Zk3TgNzYQ1qwQXZ0yVnZ0g");
  // The log begins anew, so it must not begin at 4.
  CHECK(read_whole(fs, "/d/log-start-offset-checkpoint") == "0\n0\n");
  CHECK(caught([&] { store.open_for_append(*store.find("t"), PartitionId(2)); })->code() ==
        ErrorCode::unknown_topic_or_partition);

  // Deleted by somebody else since: nothing comes back.
  put(fs, "/d/tk-topics.json", R"({"format":1,"topics":{}})");
  CHECK(caught([&] { store.open_for_append(*store.find("t"), PartitionId(1)); })->code() ==
        ErrorCode::unknown_topic_or_partition);
  CHECK_FALSE(fs.stat("/d/t-1"));
}
