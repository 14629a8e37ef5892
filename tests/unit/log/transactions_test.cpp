// Which transactions a log shows as aborted and as open.
#include "core/log/transactions.h"

#include <doctest/doctest.h>

#include <fstream>
#include <set>

#include "core/format/record_decoder.h"
#include "core/io/memory_file_system.h"
#include "core/log/partition_cursor.h"
#include "tests/support/log_maker.h"

using namespace tk;
using namespace tk::test;

namespace {

const JsonFields kProducer = [] {
  JsonFields fields;
  fields.producer_id = ProducerId(1);
  fields.producer_epoch = 0;
  fields.transactional = true;
  return fields;
}();

/// Offsets that read_committed hands out: below the last stable offset, nothing aborted, no markers.
std::vector<std::int64_t> committed(FileSystem& fs, const std::string& directory) {
  const LogView view = open_log_view(fs, directory);
  const Transactions transactions = scan_transactions(fs, view);
  const Offset stable = transactions.last_stable(view.log_end);
  std::vector<std::int64_t> offsets;
  PartitionCursor cursor(fs, view, Offset(0));
  CursorChunk chunk;
  RecordDecoder decoder;
  while (cursor.next(chunk)) {
    for (const Stretch& stretch : chunk.scan.stretches) {
      if (stretch.kind != StretchKind::units) continue;
      walk_units(
          chunk.scan, stretch,
          [&](ByteView unit, UnitKind kind, std::uint64_t) {
            UnitInfo info;
            REQUIRE_FALSE(read_unit_info(unit, kind, info));
            if (info.control || transactions.aborted(info)) return;
            REQUIRE_FALSE(decoder.decode(unit, info, [&](const RecordView& record) {
              if (record.offset < stable) offsets.push_back(record.offset.value());
            }));
          },
          [](std::uint64_t, std::uint64_t, const Fault&, ByteView) {});
    }
  }
  return offsets;
}

std::vector<std::int64_t> committed(const LogMaker& log) {
  MemoryFileSystem fs;
  write_segment(fs, "d", log);
  return committed(fs, "d");
}

using Offsets = std::vector<std::int64_t>;

JsonFields of(std::int64_t producer, JsonControl control = JsonControl::none) {
  JsonFields fields = kProducer;
  fields.producer_id = ProducerId(producer);
  fields.control = control;
  return fields;
}

}  // namespace

TEST_CASE("the vectors: committed, aborted, open, and a marker without data") {
  CHECK(committed(LogMaker(0).raw(vectors::kTX, 2).raw(vectors::kCM)) == Offsets{0, 1});
  CHECK(committed(LogMaker(0).raw(vectors::kTX, 2).raw(vectors::kAB)) == Offsets{});
  CHECK(committed(LogMaker(0).raw(vectors::kTX, 2).raw(vectors::kAB).raw(vectors::kA)) == Offsets{3});
  CHECK(committed(LogMaker(0).raw(vectors::kA).raw(vectors::kTX, 2).raw(vectors::kB)) == Offsets{0});
  CHECK(committed(LogMaker(0).raw(vectors::kAB).raw(vectors::kTX, 2).raw(vectors::kCM)) == Offsets{1, 2});
  CHECK(
      committed(LogMaker(0).raw(vectors::kTX, 2).raw(vectors::kAB).raw(vectors::kTX, 2).raw(vectors::kCM)) ==
      Offsets{3, 4});
}

TEST_CASE("markers by their kind") {
  const auto marker = [](std::string_view hex, auto&& is) {
    const Bytes unit = from_hex(hex);
    UnitInfo info;
    REQUIRE_FALSE(read_unit_info(unit, UnitKind::batch, info));
    return is(unit, info);
  };
  CHECK(marker(vectors::kAB, is_abort_marker));
  CHECK(marker(vectors::kAB, is_end_marker));
  CHECK_FALSE(marker(vectors::kCM, is_abort_marker));
  CHECK(marker(vectors::kCM, is_end_marker));
  CHECK_FALSE(marker(vectors::kG2, is_end_marker));  // of a KRaft snapshot
  CHECK_FALSE(marker(vectors::kTX, is_end_marker));
}

TEST_CASE("an open transaction keeps what follows back") {
  MemoryFileSystem fs;
  write_segment(fs, "d",
                LogMaker(0).raw(vectors::kA).raw(vectors::kTX, 2).raw(vectors::kTX, 2).raw(vectors::kB));
  const Transactions transactions = scan_transactions(fs, open_log_view(fs, "d"));
  REQUIRE(transactions.open().size() == 1);
  CHECK(transactions.open()[0].producer == ProducerId(4005));
  CHECK(transactions.open()[0].epoch == 18);
  CHECK(transactions.open()[0].first == Offset(1));
  CHECK(transactions.open()[0].first_timestamp == vectors::kT);
  CHECK(transactions.open()[0].batches == 2);
  CHECK(transactions.last_stable(Offset(6)) == Offset(1));
}

TEST_CASE("producers side by side, in json") {
  LogMaker log(0);
  log.json("a", 1, of(1)).json("b", 1, of(2)).json("plain").json("a", 1, of(1));
  log.json("", 1, of(1, JsonControl::abort));                       // 4: 0 and 3 are gone
  log.json("c", 1, of(1)).json("b", 1, of(2));                      // 5, 6
  log.json("", 1, of(2, JsonControl::commit));                      // 7: 1 and 6 stay
  log.json("d", 1, of(3)).json("", 1, of(1, JsonControl::commit));  // 8 open, 9: 5 stays
  log.json("e");                                                    // 10: behind the open one
  CHECK(committed(log) == Offsets{1, 2, 5, 6});
  log.json("", 1, of(3, JsonControl::abort));
  CHECK(committed(log) == Offsets{1, 2, 5, 6, 10});
}

TEST_CASE("records of a producer without transaction are never aborted") {
  JsonFields idempotent = of(1);
  idempotent.transactional = false;
  LogMaker log(0);
  log.json("x", 1, idempotent)
      .json("a", 1, of(1))
      .json("", 1, of(1, JsonControl::abort))
      .json("y", 1, idempotent);
  CHECK(committed(log) == Offsets{0, 3});
}

TEST_CASE("transactions over segments, and with a damaged stretch between") {
  MemoryFileSystem fs;
  write_segment(fs, "d", LogMaker(0).json("a", 1, of(1)).json("b"));
  write_segment(fs, "d", LogMaker(2).json("c", 1, of(1)).json("d"));
  write_segment(fs, "d", LogMaker(4).json("", 1, of(1, JsonControl::abort)));
  CHECK(committed(fs, "d") == Offsets{1, 3});
  const LogMaker middle = LogMaker(2).json("c", 1, of(1)).json("d");
  write_segment(fs, "d", 2, flip(middle.bytes(), 8 * 30));
  CHECK(committed(fs, "d") == Offsets{1, 3});
  // Without its marker a transaction is open.
  write_segment(fs, "d", 4, flip(LogMaker(4).json("", 1, of(1, JsonControl::abort)).bytes(), 8 * 30));
  CHECK(committed(fs, "d") == Offsets{});
}

TEST_CASE("logs of a Kafka broker: what its consumer reads committed") {
  FileSystem& fs = posix_file_system();
  for (const std::string name : {"txn-0", "txn-open-0"}) {
    CAPTURE(name);
    const std::string directory = std::string(TK_FIXTURES) + "/txn/" + name;
    std::ifstream file(directory + "/committed-offsets.txt");
    REQUIRE(file);
    Offsets expected;
    for (std::int64_t offset = 0; file >> offset;) expected.push_back(offset);
    REQUIRE(expected.size() >= 10);
    CHECK(committed(fs, directory) == expected);
  }
  // Ends and last stable offsets as the broker told them.
  const LogView closed = open_log_view(fs, std::string(TK_FIXTURES) + "/txn/txn-0");
  CHECK(closed.log_end == Offset(196));
  CHECK(scan_transactions(fs, closed).last_stable(closed.log_end) == Offset(196));
  const LogView open = open_log_view(fs, std::string(TK_FIXTURES) + "/txn/txn-open-0");
  CHECK(open.log_end == Offset(23));
  CHECK(scan_transactions(fs, open).last_stable(open.log_end) == Offset(11));
}
