// What a replica does to its log beside appending.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/io/memory_file_system.h"
#include "core/log/partition_log.h"
#include "tests/support/log_maker.h"

using namespace tk;
using namespace tk::test;

namespace {

const std::string kDirectory = "/logs/t-0";
const std::string kLog = kDirectory + "/00000000000000000000.log";

/// A log of four json records, open, one of which was damaged since.
struct Rotten {
  MemoryFileSystem fs;
  std::vector<std::uint64_t> positions;
  PartitionLog log{fs, kDirectory, {}};

  explicit Rotten(std::size_t which) {
    log.begin();
    LogMaker maker;
    for (int i = 0; i < 4; ++i) maker.json("value " + std::to_string(i), vectors::kT + i);
    for (const MadeUnit& unit : maker.units()) {
      positions.push_back(log.active_size());
      append_made(log, unit, std::nullopt);
    }
    log.sync();
    const auto file = fs.open(kLog, OpenMode::write);
    std::uint8_t byte = 0;
    const std::uint64_t at = positions[which] + 20;
    REQUIRE(file->read_at(at, {&byte, 1}) == 1);
    byte ^= 0x55;
    file->write_at(at, {&byte, 1});
  }
};

}  // namespace

TEST_CASE("a cut that meets damage below it does not pass for the cut that was asked for") {
  Rotten rotten(1);
  try {
    rotten.log.truncate_to(Offset(2));
    FAIL("record 1 cannot be read, and goes too");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::corrupt_message);
    CHECK(error.path() == kLog);
    CHECK(error.position() == rotten.positions[1]);
  }
}

TEST_CASE("damage that goes with the cut is no matter") {
  Rotten rotten(2);
  rotten.log.truncate_to(Offset(2));
  CHECK(rotten.log.log_end() == Offset(2));
  CHECK(rotten.log.active_size() == rotten.positions[2]);
}
