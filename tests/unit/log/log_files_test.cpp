// What a directory is seen as, above all in the middle of a replacement of segments (R12).
#include "core/log/log_files.h"

#include <doctest/doctest.h>

#include "core/io/memory_file_system.h"
#include "core/log/segment_names.h"
#include "tests/support/log_maker.h"

using namespace tk;
using namespace tk::test;

namespace {

const Bytes kA = from_hex(vectors::kA), kB = from_hex(vectors::kB), kC = from_hex(vectors::kC);

std::string name(std::int64_t base, std::string_view suffix) {
  return "d/" + segment_file_name(Offset(base), suffix);
}

/// File names of the segments that are read.
std::vector<std::string> logs(const PartitionFiles& files) {
  std::vector<std::string> names;
  for (const SegmentFile& segment : files.segments) names.push_back(base_name(segment.log_path).substr(17));
  return names;
}

std::vector<OtherFile::Kind> kinds(const PartitionFiles& files) {
  std::vector<OtherFile::Kind> kinds;
  for (const OtherFile& other : files.others) kinds.push_back(other.kind);
  return kinds;
}

using Names = std::vector<std::string>;
using Kind = OtherFile::Kind;

}  // namespace

TEST_CASE("names of exactly twenty digits") {
  CHECK(segment_file_name(Offset(42), ".log") == "00000000000000000042.log");
  CHECK(segment_file_name(Offset(INT64_MAX), ".index") == "09223372036854775807.index");
  CHECK(parse_segment_file_name("00000000000000000042.log")->base == Offset(42));
  CHECK(parse_segment_file_name("00000000000000000042.log.swap")->suffix == ".log.swap");
  CHECK(parse_segment_file_name("09223372036854775807.log")->base == Offset(INT64_MAX));
  for (const char* other :
       {"300.log", "backup.log", "00000000000000000042", "0000000000000000042.log",
        "000000000000000000042.log", "09223372036854775808.log", "99999999999999999999.log",
        "-0000000000000000042.log", "+0000000000000000042.log", "0000000000000000004 .log",
        "0000000000000000004x.log", ""}) {
    CAPTURE(other);
    CHECK_FALSE(parse_segment_file_name(other));
  }
}

TEST_CASE("a listing by base offset, with what lies beside, and foreign things apart") {
  MemoryFileSystem fs;
  for (const std::int64_t base : {100, 0, 20}) write_file(fs, name(base, ".log"), kA);
  for (const char* suffix : {".index", ".timeindex", ".txnindex"}) write_file(fs, name(20, suffix), {});
  for (const std::int64_t base : {100, 20}) write_file(fs, name(base, ".snapshot"), {});
  for (const char* other : {"leader-epoch-checkpoint", "partition.metadata", ".lock"})
    write_file(fs, std::string("d/") + other, {});
  PartitionFiles files = list_partition(fs, "d");
  CHECK(logs(files) == Names{"000.log", "020.log", "100.log"});
  CHECK(files.segments[1].has_index);
  CHECK(files.segments[1].has_time_index);
  CHECK(files.segments[1].has_txn_index);
  CHECK_FALSE(files.segments[0].has_index);
  CHECK(files.segments[1].size == 69);
  CHECK(files.segments[1].beside(".index") == name(20, ".index"));
  CHECK(files.snapshots == std::vector<Offset>{Offset(20), Offset(100)});
  CHECK(files.has_leader_epochs);
  CHECK(files.has_metadata);
  CHECK(files.others.empty());
  CHECK(files.pending.empty());

  write_file(fs, "d/300.log", kA);
  write_file(fs, "d/notes.txt", {});
  write_file(fs, "d/x.tmp", {});
  write_file(fs, name(7, ".index"), {});
  write_file(fs, name(0, ".log.deleted"), kA);
  fs.make_directories("d/lost+found");
  fs.make_directories(name(50, ".log"));
  files = list_partition(fs, "d");
  CHECK(logs(files) == Names{"000.log", "020.log", "100.log"});
  auto found = kinds(files);
  std::sort(found.begin(), found.end());
  CHECK(found == std::vector<Kind>{Kind::deleted, Kind::temporary, Kind::orphan, Kind::foreign, Kind::foreign,
                                   Kind::foreign, Kind::foreign});
  CHECK_THROWS(list_partition(fs, "none"));
}

TEST_CASE("a finished replacement is read in place of the originals (R12)") {
  MemoryFileSystem fs;
  write_file(fs, name(0, ".log"), kA + kB + kC);
  write_file(fs, name(0, ".index"), {});
  write_file(fs, name(0, ".log.swap"), kA + kC);
  const PartitionFiles files = list_partition(fs, "d");
  CHECK(logs(files) == Names{"000.log.swap"});
  CHECK(files.segments[0].base == Offset(0));
  CHECK(files.segments[0].size == 138);
  CHECK_FALSE(files.segments[0].has_index);  // the original's says nothing of the new log
  CHECK_FALSE(files.pending.empty());

  // With a .cleaned of its base or below it is void.
  write_file(fs, name(0, ".log.cleaned"), {});
  const PartitionFiles unfinished = list_partition(fs, "d");
  CHECK(logs(unfinished) == Names{"000.log"});
  CHECK(unfinished.segments[0].has_index);
  CHECK_FALSE(unfinished.pending.empty());
}

TEST_CASE("a .swap below the least .cleaned stands, one above is void") {
  MemoryFileSystem fs;
  write_file(fs, name(0, ".log"), kA);
  write_file(fs, name(1, ".log"), kB);
  write_file(fs, name(2, ".log"), kC);
  write_file(fs, name(0, ".log.swap"), kA);
  write_file(fs, name(2, ".log.swap"), kC);
  write_file(fs, name(1, ".timeindex.cleaned"), {});
  CHECK(logs(list_partition(fs, "d")) == Names{"000.log.swap", "001.log", "002.log"});
}

TEST_CASE("one replacement of several segments, and a split into several") {
  MemoryFileSystem fs;
  write_file(fs, name(0, ".log"), kA);
  write_file(fs, name(1, ".log"), kB);
  write_file(fs, name(2, ".log"), kC);
  write_file(fs, name(0, ".log.swap"), kA + kB);
  CHECK(logs(list_partition(fs, "d")) == Names{"000.log.swap", "002.log"});

  MemoryFileSystem split;
  write_file(split, name(0, ".log"), kA + kB + kC);
  write_file(split, name(0, ".log.swap"), kA);
  write_file(split, name(1, ".log.swap"), kB + kC);
  CHECK(logs(list_partition(split, "d")) == Names{"000.log.swap", "001.log.swap"});

  // The first of the two has its final name already.
  MemoryFileSystem renamed;
  write_file(renamed, name(0, ".log"), kA);
  write_file(renamed, name(1, ".log.swap"), kB + kC);
  CHECK(logs(list_partition(renamed, "d")) == Names{"000.log", "001.log.swap"});
}

TEST_CASE("a torn .swap replaces nothing while the originals are there") {
  MemoryFileSystem fs;
  write_file(fs, name(0, ".log"), kA + kB + kC);
  write_file(fs, name(0, ".log.swap"), cut(kA + kC, 100));
  const PartitionFiles files = list_partition(fs, "d");
  CHECK(logs(files) == Names{"000.log"});
  CHECK_FALSE(files.pending.empty());
}

TEST_CASE("a torn .swap whose originals are gone is the best there is") {
  MemoryFileSystem fs;
  write_file(fs, name(0, ".log.swap"), cut(kA + kC, 100));
  write_file(fs, name(9, ".log"), at_offset(kA, 9));
  const PartitionFiles files = list_partition(fs, "d");
  CHECK(logs(files) == Names{"000.log.swap", "009.log"});
  CHECK_FALSE(files.pending.empty());
}

TEST_CASE("only index files of a replacement: nothing is replaced; what waits for removal is not read") {
  MemoryFileSystem fs;
  write_file(fs, name(0, ".log"), kA + kB);
  write_file(fs, name(0, ".index.swap"), {});
  write_file(fs, name(2, ".log.deleted"), kC);
  write_file(fs, name(2, ".log.cleaned"), kC);
  CHECK(logs(list_partition(fs, "d")) == Names{"000.log"});
}
