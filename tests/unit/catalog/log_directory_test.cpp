#include "core/catalog/log_directory.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/format/checkpoint_file.h"
#include "core/io/memory_file_system.h"

using namespace tk;

namespace {

void put(FileSystem& fs, const std::string& path, std::string_view content = "") {
  const auto file = fs.open(path, OpenMode::create);
  file->truncate(0);
  file->write_at(0, as_bytes(content));
}

std::string all(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("log directory: partitions by state, topic and number") {
  MemoryFileSystem fs;
  const std::string id(32, 'a');
  for (const std::string& name : std::vector<std::string>{"t-10", "t-2", "a-1-0", "-a-0",
                                                          "t-0." + id + "-delete", "u-0." + id + "-stray"}) {
    fs.make_directories("/d/" + name);
  }
  const LogDirectory found = scan_log_directory(fs, "/d");
  std::string names;
  for (const FoundPartition& partition : found.partitions) names += partition.directory + " ";
  CHECK(names == "-a-0 a-1-0 t-2 t-10 t-0." + id + "-delete u-0." + id + "-stray ");
  CHECK(found.notes.empty());
  CHECK_FALSE(found.is_broker);
}

TEST_CASE("log directory: foreign entries are named, known ones are not (R25)") {
  MemoryFileSystem fs;
  fs.make_directories("/d/t-0");
  for (const char* name :
       {".lock", "meta.properties", ".kafka_cleanshutdown", "bootstrap.checkpoint",
        "recovery-point-offset-checkpoint", "log-start-offset-checkpoint", "replication-offset-checkpoint",
        "cleaner-offset-checkpoint", "tk-topics.json", "tk-topics.lock", "tk-producers.json",
        "tk-producers.lock", "tk-serve.lock", "group-g.json", "group-g.lock", "tk-topics.json.tmp",
        "replication-offset-checkpoint.tmp", "group-g.json.tmp"}) {
    put(fs, std::string("/d/") + name);
  }
  fs.make_directories("/d/remote-log-index-cache");
  CHECK(scan_log_directory(fs, "/d").notes.empty());

  for (const char* name : {"lost+found", "data", "t-01", "t-0.123-delete"})
    fs.make_directories(std::string("/d/") + name);
  for (const char* name : {"README", "x.tmp", "t-1"}) put(fs, std::string("/d/") + name);
  const LogDirectory found = scan_log_directory(fs, "/d");
  CHECK(found.partitions.size() == 1);
  const std::string notes = all(found.notes);
  for (const char* name : {"/d/lost+found/:", "/d/data/:", "/d/t-01/:", "/d/t-0.123-delete/:", "/d/README:",
                           "/d/x.tmp:", "/d/t-1:"}) {
    CHECK_MESSAGE(contains(notes, name), name);
  }
  CHECK(found.notes.size() == 7);
}

TEST_CASE("log directory: a directory full of foreign entries is summed up") {
  MemoryFileSystem fs;
  fs.make_directories("/d");
  for (int i = 0; i < 500; ++i) put(fs, "/d/file" + std::to_string(i));
  const LogDirectory found = scan_log_directory(fs, "/d");
  CHECK(found.notes.size() == 21);
  CHECK(contains(found.notes.back(), "480 more"));
}

TEST_CASE("log directory: whose it is") {
  for (const char* name :
       {"meta.properties", "recovery-point-offset-checkpoint", "replication-offset-checkpoint"}) {
    MemoryFileSystem fs;
    fs.make_directories("/d");
    put(fs, std::string("/d/") + name);
    CHECK_MESSAGE(scan_log_directory(fs, "/d").is_broker, name);
  }
  // tk writes these itself; and the marker alone says nothing.
  MemoryFileSystem fs;
  fs.make_directories("/d");
  for (const char* name :
       {"log-start-offset-checkpoint", "cleaner-offset-checkpoint", ".lock", ".kafka_cleanshutdown"}) {
    put(fs, std::string("/d/") + name);
  }
  CHECK_FALSE(scan_log_directory(fs, "/d").is_broker);
  CHECK(scan_log_directory(fs, "/d").has_clean_shutdown);
}

TEST_CASE("log directory: log start offsets, and a damaged checkpoint is a note") {
  MemoryFileSystem fs;
  fs.make_directories("/d");
  put(fs, "/d/log-start-offset-checkpoint", "0\n2\norders 0 1042\na-1 3 7\n");
  const LogDirectory found = scan_log_directory(fs, "/d");
  CHECK(found.notes.empty());
  CHECK(found.log_starts == std::map<std::string, Offset>{{"orders-0", Offset(1042)}, {"a-1-3", Offset(7)}});

  for (const char* content : {"1\n0\n", "0\n2\norders 0 1042\n", "0\n1\norders 0 -4\n", "\xff\xfe"}) {
    put(fs, "/d/log-start-offset-checkpoint", content);
    const LogDirectory damaged = scan_log_directory(fs, "/d");
    CHECK(damaged.log_starts.empty());
    REQUIRE(damaged.notes.size() == 1);
    CHECK(contains(damaged.notes[0], "log-start-offset-checkpoint"));
  }
  put(fs, "/d/log-start-offset-checkpoint", "");
  CHECK(scan_log_directory(fs, "/d").notes.empty());
}

TEST_CASE("log directory: a topic is taken out of the checkpoints, others stay") {
  MemoryFileSystem fs;
  fs.make_directories("/d");
  const std::string content = "0\n3\nt 0 5\nt 1 6\nt-1 0 7\n";
  for (const char* name : {"log-start-offset-checkpoint", "recovery-point-offset-checkpoint"}) {
    put(fs, std::string("/d/") + name, content);
  }
  put(fs, "/d/cleaner-offset-checkpoint", "damaged");
  forget_in_checkpoints(fs, "/d", "t", PartitionId(1));
  CHECK(read_whole(fs, "/d/log-start-offset-checkpoint") == "0\n2\nt 0 5\nt-1 0 7\n");
  forget_in_checkpoints(fs, "/d", "t");
  CHECK(read_whole(fs, "/d/log-start-offset-checkpoint") == "0\n1\nt-1 0 7\n");
  CHECK(read_whole(fs, "/d/recovery-point-offset-checkpoint") == "0\n1\nt-1 0 7\n");
  CHECK(read_whole(fs, "/d/cleaner-offset-checkpoint") == "damaged");
  CHECK_FALSE(fs.stat("/d/replication-offset-checkpoint"));
}
