#include "core/store/log_edges.h"

#include <doctest/doctest.h>

#include "core/io/memory_file_system.h"
#include "tests/unit/store/store_files.h"

using namespace tk;
using namespace tk::test;

namespace {

using Times = std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>;

Times times(MemoryFileSystem& fs, std::optional<Offset> start = {}) {
  const LogView view = open_log_view(fs, "/t-0", start);
  return {first_timestamp(fs, view), last_timestamp(fs, view)};
}

}  // namespace

TEST_CASE("log edges: of nothing there are none") {
  MemoryFileSystem fs;
  fs.make_directories("/t-0");
  CHECK(times(fs) == Times{});
  put(fs, "/t-0/" + kSegment);
  CHECK(times(fs) == Times{});
  put(fs, "/t-0/" + kSegment, batch_a().substr(0, 50));
  CHECK(times(fs) == Times{});
}

TEST_CASE("log edges: the first and the last record") {
  MemoryFileSystem fs;
  put(fs, "/t-0/" + kSegment, batch_a() + batch_b() + batch_c());
  CHECK(times(fs) == Times{kT, kT + 2});
  CHECK(times(fs, Offset(1)) == Times{kT + 1, kT + 2});
  CHECK(times(fs, Offset(3)) == Times{});  // everything deleted
  // A torn tail does not count, an empty last segment neither.
  put(fs, "/t-0/" + kSegment, batch_a() + batch_b() + batch_c().substr(0, 60));
  CHECK(times(fs) == Times{kT, kT + 1});
  put(fs, "/t-0/" + kSegment, batch_a() + batch_b());
  put(fs, "/t-0/00000000000000000002.log");
  CHECK(times(fs) == Times{kT, kT + 1});
  put(fs, "/t-0/00000000000000000002.log", batch_c());
  CHECK(times(fs) == Times{kT, kT + 2});
}

TEST_CASE("log edges: behind a wrong index") {
  MemoryFileSystem fs;
  put(fs, "/t-0/" + kSegment, batch_a() + batch_b() + batch_c());
  put(fs, "/t-0/00000000000000000000.index",
      from_hex("0000000100000045"));  // offset 1 ends at byte 69: right
  CHECK(times(fs) == Times{kT, kT + 2});
  put(fs, "/t-0/00000000000000000000.index", from_hex("0000000100000046"));
  CHECK(times(fs) == Times{kT, kT + 2});
}

TEST_CASE("log edges: control records do not count, records without a time have none") {
  MemoryFileSystem fs;
  put(fs, "/t-0/" + kSegment, batch_transaction() + batch_commit());
  CHECK(times(fs) == Times{kT, kT});  // the marker has kT + 1
  put(fs, "/t-0/" + kSegment, json_records());
  CHECK(times(fs) == Times{});
}

TEST_CASE("log edges: damage at the end is told with its place") {
  MemoryFileSystem fs;
  std::string bytes = batch_a() + batch_b() + batch_c();
  bytes[136] = 'c';  // the value of the record at offset 1
  put(fs, "/t-0/" + kSegment, bytes);
  const LogView view = open_log_view(fs, "/t-0");
  CHECK(view.end_state == TailScan::Stop::damaged);
  const auto damage = damage_at_end(fs, view);
  REQUIRE(damage.size() == 1);
  CHECK(damage[0].position == 69);
  CHECK(damage[0].size == 69);
  CHECK(damage[0].fault.kind == FaultKind::bad_crc);
  CHECK(first_timestamp(fs, view) == kT);
  CHECK(last_timestamp(fs, view) == kT + 2);
  put(fs, "/t-0/" + kSegment, batch_a());
  CHECK(damage_at_end(fs, open_log_view(fs, "/t-0")).empty());
}
