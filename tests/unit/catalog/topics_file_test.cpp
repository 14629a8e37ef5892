#include "core/catalog/topics_file.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "core/io/memory_file_system.h"
#include "tests/unit/io/caught.h"

using namespace tk;
using tk::test::caught;

namespace {

constexpr const char* kPath = "/d/tk-topics.json";
constexpr const char* kOrders =
    R"({"format":1,"topics":{"orders":{"id":"Zk3TgNzYQ1qwQXZ0yVnZ0g","partitions":3,"format":"json","configs":{"segment.bytes":"1048576"}}}})";

TopicsFile parse(std::string_view text) {
  return parse_topics_file(text, kPath);
}

std::optional<Error> fault(std::string_view text) {
  return caught([&] { parse(text); });
}

TopicsFile with_topic(const std::string& name) {
  TopicsFile file = parse(kOrders);
  file.topics[name] = file.topics["orders"];
  return file;
}

void put(FileSystem& fs, const std::string& path, std::string_view content) {
  const auto file = fs.open(path, OpenMode::create);
  file->truncate(0);
  file->write_at(0, as_bytes(content));
  file->sync();
  fs.sync_directory(parent_path(path));
}

}  // namespace

TEST_CASE("topics file: read and written") {
  const TopicsFile file = parse(kOrders);
  REQUIRE(file.topics.size() == 1);
  const TopicEntry& entry = file.topics.at("orders");
  CHECK(entry.id.text() == "Zk3TgNzYQ1qwQXZ0yVnZ0g");
  CHECK(entry.partitions == 3);
  CHECK(entry.format == TopicFormat::json);
  CHECK(entry.configs == ConfigMap{{"segment.bytes", "1048576"}});
  CHECK_FALSE(entry.adopted);
  CHECK(nlohmann::json::parse(format_topics_file(file)) == nlohmann::json::parse(kOrders));
  CHECK(format_topics_file({}) == "{\"format\":1,\"topics\":{}}\n");
}

TEST_CASE("topics file: what is not known is kept") {
  const char* text =
      R"({"cluster_id":"x","format":1,"deep":{"a":[1,{"b":null}]},"topics":{"t":{"new":[1,2],"id":"Zk3TgNzYQ1qwQXZ0yVnZ0g",
         "partitions":1,"format":"kafka","configs":{},"adopted":true,"owner":"me"}}})";
  const TopicsFile file = parse(text);
  CHECK(file.topics.at("t").adopted);
  CHECK(nlohmann::json::parse(format_topics_file(file)) == nlohmann::json::parse(text));
}

TEST_CASE("topics file: another version is refused as such") {
  for (const char* version : {"0", "2", "99", "18446744073709551615", "-1"}) {
    const auto error = fault(std::string(R"({"format":)") + version + R"(,"topics":{}})");
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::unsupported_version);
    CHECK(error->path() == kPath);
  }
}

TEST_CASE("topics file: damage is named with its position") {
  const auto cut = fault(R"({"format":1,"topics":)");
  REQUIRE(cut);
  CHECK(cut->code() == ErrorCode::corrupt_state);
  CHECK(cut->path() == kPath);
  CHECK(cut->position() == 21U);
  CHECK(fault(R"({"format":1,!)")->position() == 12U);

  std::string deep(100000, '[');
  for (const std::string& text :
       {std::string(), std::string("[]"), std::string("{}"), std::string(R"({"format":"1","topics":{}})"),
        std::string(R"({"format":1.0,"topics":{}})"), std::string(R"({"format":1,"topics":[]})"),
        std::string("{\"format\":1,\"topics\":{}}\xFF"),
        std::string("{\"format\":1,\"x\":\"\xC0\",\"topics\":{}}"), std::string(R"({"format":1,"x":)") + deep,
        std::string(R"({"format":1,"x":1e999,"topics":{}})"), std::string(20000, '\0')}) {
    const auto error = fault(text);
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::corrupt_state);
  }
}

TEST_CASE("topics file: hostile members") {
  const auto topic = [](const std::string& name, const std::string& members) {
    return R"({"format":1,"topics":{")" + name + R"(":{)" + members + "}}}";
  };
  const std::string id = R"("id":"Zk3TgNzYQ1qwQXZ0yVnZ0g")";
  CHECK_FALSE(fault(topic("t", id + R"(,"partitions":1,"format":"json")")));
  // A config that was written as a number is taken as its text.
  CHECK(parse(topic("t",
                    id + R"(,"partitions":1,"format":"json","configs":{"segment.ms":5,"preallocate":true})"))
            .topics.at("t")
            .configs == ConfigMap{{"segment.ms", "5"}, {"preallocate", "true"}});
  const std::pair<std::string, std::string> bad[] = {
      {"../../etc", id + R"(,"partitions":1,"format":"json")"},
      {"", id + R"(,"partitions":1,"format":"json")"},
      {"..", id + R"(,"partitions":1,"format":"json")"},
      {"t", R"("partitions":1,"format":"json")"},
      {"t", R"("id":"short","partitions":1,"format":"json")"},
      {"t", R"("id":7,"partitions":1,"format":"json")"},
      {"t", id + R"(,"format":"json")"},
      {"t", id + R"(,"partitions":0,"format":"json")"},
      {"t", id + R"(,"partitions":-1,"format":"json")"},
      {"t", id + R"(,"partitions":2147483647,"format":"json")"},
      {"t", id + R"(,"partitions":18446744073709551615,"format":"json")"},
      {"t", id + R"(,"partitions":1.5,"format":"json")"},
      {"t", id + R"(,"partitions":"1","format":"json")"},
      {"t", id + R"(,"partitions":1,"format":"avro")"},
      {"t", id + R"(,"partitions":1)"},
      {"t", id + R"(,"partitions":1,"format":"json","configs":[])"},
      {"t", id + R"(,"partitions":1,"format":"json","configs":{"a":null})"},
  };
  for (const auto& [name, members] : bad) {
    const std::string members_text = topic(name, members);
    const auto error = fault(members_text);
    CAPTURE(members_text);
    REQUIRE(error);
    CHECK(error->code() == ErrorCode::corrupt_state);
  }
  // Many partitions in many topics are bounded in all.
  std::string many = R"({"format":1,"topics":{)";
  for (int i = 0; i < 11; ++i) {
    many += (i > 0 ? ",\"t" : "\"t") + std::to_string(i) + "\":{" + id +
            R"(,"partitions":100000,"format":"json"})";
  }
  CHECK(fault(many + "}}")->code() == ErrorCode::corrupt_state);
}

TEST_CASE("topics file: missing is empty, damaged is an error") {
  MemoryFileSystem fs;
  fs.make_directories("/d");
  CHECK(read_topics_file(fs, "/d").topics.empty());
  put(fs, kPath, "");
  CHECK(caught([&] { read_topics_file(fs, "/d"); })->code() == ErrorCode::corrupt_state);
}

TEST_CASE("topics file: one writer at a time") {
  MemoryFileSystem fs;
  fs.make_directories("/d");
  auto first = lock_topics_file(fs, "/d", 0);
  CHECK(caught([&] { lock_topics_file(fs, "/d", 0); })->code() == ErrorCode::log_dir_locked);
  first.reset();
  CHECK_NOTHROW(lock_topics_file(fs, "/d", 0));
}

TEST_CASE("topics file: a failure or a power cut at any call leaves the old or the new one") {
  const std::string before = format_topics_file(parse(kOrders));
  const std::string after = format_topics_file(with_topic("second"));
  for (const DiskFate fate : {DiskFate::fails, DiskFate::torn, DiskFate::power_off}) {
    for (const UnsyncedFate left :
         {UnsyncedFate::all_lost, UnsyncedFate::all_kept, UnsyncedFate::random_blocks}) {
      bool completed = false;
      std::uint64_t at = 0;
      for (; !completed && at < 50; ++at) {
        MemoryFileSystem fs;
        fs.make_directories("/d");
        write_topics_file(fs, "/d", parse(kOrders));
        const std::uint64_t begin = fs.calls();
        fs.on_call = [&](const DiskCall& call) { return call.number == begin + at ? fate : DiskFate::done; };
        completed = !caught([&] { write_topics_file(fs, "/d", with_topic("second")); });
        fs.on_call = nullptr;
        if (fate == DiskFate::power_off || completed) {
          fs.power_off(left, at);
          fs.power_on();
        }
        const std::string content = read_whole(fs, kPath);
        CHECK((completed ? content == after : content == before || content == after));
      }
      CHECK(completed);
      CHECK(at > 4);  // the temporary file, its content, its sync, the rename, the directory
    }
  }
}
