// Producer state: the rules of the specification, and brokers' own snapshots and transaction indexes as what
// the same logs must lead to.
#include "core/log/producer_state.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/crc.h"
#include "core/format/batch.h"
#include "core/format/json_record.h"
#include "core/io/memory_file_system.h"
#include "core/log/segment_names.h"
#include "tests/support/bytes.h"
#include "tests/support/vectors.h"

using namespace tk;
using namespace tk::test;

namespace {

constexpr std::int64_t kT = vectors::kT;

// kafka-on-disk.md §17.6: producer 4000, epoch 2, lastSequence 49, lastOffset 101, delta 1, coordinator
// epoch 3.
const Bytes kWorked = from_hex(
    "0001b7d04447000000010000000000000fa000020000003100000000000000650000000100000"
    "18bcfe5680500000003ffffffffffffffff");

ProducerState::Step feed(ProducerState& state, const Bytes& unit, UnitKind kind = UnitKind::batch) {
  UnitInfo info;
  REQUIRE_FALSE(read_unit_info(unit, kind, info));
  return state.add(unit, info);
}

struct Produced {
  std::int64_t base = 0;
  std::int32_t count = 1;
  std::int64_t producer = 7;
  std::int16_t epoch = 0;
  std::int32_t sequence = 0;
  bool transactional = false;
  std::int64_t timestamp = kT;
};

Bytes batch(const Produced& what) {
  BatchBuilder builder;
  Buffer out;
  builder.start();
  for (std::int32_t i = 0; i < what.count; ++i) builder.add(out, what.timestamp, std::nullopt, "v", {});
  BatchFields fields;
  fields.base_offset = Offset(what.base);
  fields.producer_id = ProducerId(what.producer);
  fields.producer_epoch = what.epoch;
  fields.base_sequence = what.sequence;
  if (what.transactional) fields.attribute_bits = kTransactionalBit;
  Compressor compressor;
  builder.finish(fields, {}, compressor, out);
  return {out.data(), out.data() + out.size()};
}

const ProducerEntry& entry(const ProducerState& state, std::int64_t id) {
  const ProducerEntry* found = state.find(ProducerId(id));
  REQUIRE(found != nullptr);
  return *found;
}

Bytes snapshot_of(const ProducerState& state) {
  Buffer out;
  state.encode_snapshot(out);
  return {out.data(), out.data() + out.size()};
}

/// The entries of a snapshot file as raw bytes, sorted: a broker writes them in the order of a hash table.
std::vector<Bytes> entries_of(const Bytes& file) {
  std::vector<Bytes> entries;
  REQUIRE(file.size() >= 10);
  REQUIRE((file.size() - 10) % 46 == 0);
  for (std::size_t at = 10; at < file.size(); at += 46) entries.push_back(part(file, at, 46));
  std::sort(entries.begin(), entries.end());
  return entries;
}

Bytes read_file(const std::filesystem::path& path) {
  const std::string text = read_whole(posix_file_system(), path.string());
  return to_bytes(text);
}

std::map<std::int64_t, std::filesystem::path> files_with(const std::string& directory,
                                                         const std::string& suffix) {
  std::map<std::int64_t, std::filesystem::path> files;
  for (const auto& at : std::filesystem::directory_iterator(directory)) {
    if (at.path().extension() == suffix) files[std::stoll(at.path().stem().string())] = at.path();
  }
  return files;
}

}  // namespace

TEST_CASE("the worked snapshot is what its producer's state encodes to, and back") {
  ProducerState read;
  REQUIRE_FALSE(read.decode_snapshot(kWorked));
  REQUIRE(read.producers().size() == 1);
  const ProducerEntry& producer = entry(read, 4000);
  CHECK(producer.epoch == 2);
  CHECK(producer.coordinator_epoch == 3);
  CHECK(producer.last_timestamp == 1700000000005);
  CHECK_FALSE(producer.transaction_first);
  REQUIRE(producer.batches().size() == 1);
  CHECK(*producer.last_batch() == ProducedBatch{49, Offset(101), 1, 1700000000005});
  CHECK(producer.last_batch()->first_sequence() == 48);
  CHECK(producer.last_batch()->first_offset() == Offset(100));
  CHECK(snapshot_of(read) == kWorked);
}

TEST_CASE("no producers: ten bytes") {
  const Bytes file = snapshot_of({});
  REQUIRE(file.size() == 10);
  // CRC-32C of four zero bytes.
  CHECK(file == from_hex("0001 48674bc7 00000000"));
  ProducerState read;
  CHECK_FALSE(read.decode_snapshot(file));
  CHECK(read.empty());
}

TEST_CASE("a damaged snapshot says which check failed and leaves nothing behind") {
  const auto fault_of = [](const Bytes& file) {
    ProducerState state;
    REQUIRE_FALSE(state.decode_snapshot(kWorked));
    const Fault fault = state.decode_snapshot(file);
    CHECK(state.empty());
    return fault.kind;
  };
  CHECK(fault_of({}) == FaultKind::bad_length);
  CHECK(fault_of(from_hex("0001")) == FaultKind::bad_length);
  CHECK(fault_of(from_hex("0009")) == FaultKind::bad_magic);
  CHECK(fault_of(from_hex("0009") + part(kWorked, 2, 54)) == FaultKind::bad_magic);
  for (std::size_t size = 2; size < kWorked.size(); ++size)
    CHECK(fault_of(cut(kWorked, size)) != FaultKind::none);
  for (std::size_t bit = 16; bit < kWorked.size() * 8; ++bit)
    CHECK(fault_of(flip(kWorked, bit)) == FaultKind::bad_crc);

  // A good checksum over a count that the length does not bear out: -1, and 2 entries in the room of one.
  CHECK(fault_of(from_hex("0001 00000000 ffffffff")) == FaultKind::bad_crc);
  for (const std::string_view count : {"ffffffff", "00000002", "7fffffff", "00000000"}) {
    Bytes file = kWorked;
    const Bytes number = from_hex(count);
    std::copy(number.begin(), number.end(), file.begin() + 6);
    store_be<std::uint32_t>(file.data() + 2, crc32c(ByteView(file).subspan(6)));
    CAPTURE(count);
    CHECK(fault_of(file) == FaultKind::bad_length);
  }
}

TEST_CASE("data batches: the last five of the epoch") {
  ProducerState state;
  for (std::int32_t i = 0; i < 7; ++i) {
    CHECK(feed(state, batch({.base = i * 3, .count = 3, .sequence = i * 3, .timestamp = kT + i})).oddity ==
          nullptr);
  }
  const ProducerEntry& producer = entry(state, 7);
  REQUIRE(producer.batches().size() == 5);
  CHECK(producer.batches().front() == ProducedBatch{8, Offset(8), 2, kT + 2});
  CHECK(producer.batches().back() == ProducedBatch{20, Offset(20), 2, kT + 6});
  CHECK(producer.batches().back().first_sequence() == 18);
  CHECK(producer.last_timestamp == kT + 6);

  feed(state, batch({.base = 21, .epoch = 1, .sequence = 0, .timestamp = kT + 9}));
  REQUIRE(producer.batches().size() == 1);
  CHECK(producer.epoch == 1);
  CHECK(producer.last_batch()->last_offset == Offset(21));
  CHECK(feed(state, batch({.base = 22, .epoch = 0, .sequence = 1})).oddity != nullptr);
  CHECK(state.producers().size() == 1);
  CHECK(state.find(ProducerId(8)) == nullptr);
}

TEST_CASE("sequences wrap from 2^31-1 to 0") {
  ProducerState state;
  feed(state, batch({.count = 4, .sequence = 2147483646}));
  // 2147483646, 2147483647, 0, 1
  CHECK(entry(state, 7).last_batch()->last_sequence == 1);
  CHECK(entry(state, 7).last_batch()->first_sequence() == 2147483646);
}

TEST_CASE("a transaction begins with its first batch and ends with its marker") {
  for (const bool commit : {true, false}) {
    CAPTURE(commit);
    ProducerState state;
    feed(state, from_hex(vectors::kA));  // without a producer
    CHECK(state.empty());
    feed(state, at_offset(from_hex(vectors::kTX), 1));
    CHECK(entry(state, 4005).transaction_first == Offset(1));
    CHECK(entry(state, 4005).coordinator_epoch == -1);
    feed(state, at_offset(from_hex(vectors::kTX), 3));
    CHECK(entry(state, 4005).transaction_first == Offset(1));

    const auto marker = at_offset(from_hex(commit ? vectors::kCM : vectors::kAB), 5);
    const auto step = feed(state, marker);
    REQUIRE(step.ended);
    CHECK(step.ended->producer == ProducerId(4005));
    CHECK(step.ended->first == Offset(1));
    CHECK(step.ended->last == Offset(5));
    CHECK(step.ended->aborted == !commit);
    const ProducerEntry& producer = entry(state, 4005);
    CHECK_FALSE(producer.transaction_first);
    CHECK(producer.epoch == 18);
    CHECK(producer.coordinator_epoch == 7);
    CHECK(producer.last_timestamp == kT + 1);  // the marker's
    CHECK(producer.batches().size() == 2);     // a marker is no data batch
    CHECK_FALSE(feed(state, at_offset(marker, 6)).ended);
  }
}

TEST_CASE("a marker with a new epoch fences: the batches of the old one are forgotten") {
  ProducerState state;
  feed(state, batch({.producer = 4005, .epoch = 17, .sequence = 0, .transactional = true}));
  REQUIRE(feed(state, at_offset(from_hex(vectors::kAB), 1)).ended);
  CHECK(entry(state, 4005).epoch == 18);
  CHECK(entry(state, 4005).batches().empty());
  // As the snapshot of such a producer has it: no batch known.
  const Bytes file = snapshot_of(state);
  CHECK(part(file, 10, 46) == from_hex("0000000000000fa5 0012 ffffffff ffffffffffffffff 00000000 "
                                       "0000018bcfe56801 00000007 ffffffffffffffff"));
}

TEST_CASE("what does not count, and what is odd") {
  ProducerState state;
  feed(state, from_hex(vectors::kG2));  // a control batch without a producer
  CHECK(state.empty());
  feed(state, from_hex(vectors::kE));  // emptied data: offsets and sequences 5-9, producer 1000
  CHECK(*entry(state, 1000).last_batch() == ProducedBatch{9, Offset(9), 4, kT});

  // A marker that the cleaner emptied says nothing.
  ProducerState with_open;
  feed(with_open, from_hex(vectors::kTX));
  Bytes emptied = cut(from_hex(vectors::kCM), 61);
  store_be<std::int32_t>(emptied.data() + batch_layout::kLength, 49);
  store_be<std::int32_t>(emptied.data() + batch_layout::kCount, 0);
  CHECK_FALSE(feed(with_open, emptied).ended);
  CHECK(entry(with_open, 4005).transaction_first == Offset(0));

  CHECK(feed(with_open, batch({.base = 2, .producer = 4005, .epoch = 18, .sequence = 2})).oddity != nullptr);
  CHECK(entry(with_open, 4005).transaction_first == Offset(0));
}

TEST_CASE("json records are batches of one") {
  ProducerState state;
  const auto record = [](std::int64_t offset, const JsonFields& fields) {
    RecordView view;
    view.timestamp = kT + offset;
    if (fields.control == JsonControl::none) view.value = "v";
    Buffer out;
    encode_json_record(out, Offset(offset), view, fields);
    return Bytes(out.data(), out.data() + out.size());
  };
  JsonFields fields{LeaderEpoch(0), ProducerId(9), 4, 12, true, JsonControl::none};
  feed(state, record(30, fields), UnitKind::json);
  CHECK(*entry(state, 9).last_batch() == ProducedBatch{12, Offset(30), 0, kT + 30});
  CHECK(entry(state, 9).transaction_first == Offset(30));
  fields.control = JsonControl::abort;
  fields.sequence = -1;
  const auto step = feed(state, record(31, fields), UnitKind::json);
  REQUIRE(step.ended);
  CHECK(step.ended->aborted);
  CHECK(step.ended->last == Offset(31));
  CHECK(entry(state, 9).last_timestamp == kT + 31);
  CHECK(entry(state, 9).batches().size() == 1);
}

TEST_CASE("a broker's logs lead to the broker's snapshots and transaction indexes") {
  for (const std::string name : {"txn-0", "txn-open-0"}) {
    CAPTURE(name);
    const auto logs = files_with(TK_FIXTURES "/txn/" + name, ".log");
    const auto snapshots = files_with(TK_FIXTURES "/txn_state/" + name, ".snapshot");
    const auto indexes = files_with(TK_FIXTURES "/txn_state/" + name, ".txnindex");
    REQUIRE_FALSE(logs.empty());
    REQUIRE_FALSE(snapshots.empty());

    ProducerState state;
    std::size_t compared = 0;
    const auto compare = [&](std::int64_t end) {
      const auto at = snapshots.find(end);
      if (at == snapshots.end()) return;
      CAPTURE(end);
      const Bytes theirs = read_file(at->second);
      CHECK(entries_of(snapshot_of(state)) == entries_of(theirs));
      ProducerState read;
      CHECK_FALSE(read.decode_snapshot(theirs));
      CHECK(entries_of(snapshot_of(read)) == entries_of(theirs));
      ++compared;
    };
    for (const auto& [base, path] : logs) {
      compare(base);
      const Bytes log = read_file(path);
      Bytes aborted;  // what the segment's .txnindex must hold, without the last stable offsets
      std::int64_t end = base;
      for (std::size_t at = 0; at < log.size();) {
        const Frame frame = frame_unit(ByteView(log).subspan(at), log.size() - at);
        REQUIRE(frame.status == FrameStatus::whole);
        const ByteView unit = ByteView(log).subspan(at, frame.size);
        UnitInfo info;
        REQUIRE_FALSE(read_unit_info(unit, frame.kind, info));
        const auto step = state.add(unit, info);
        CHECK(step.oddity == nullptr);
        if (step.ended && step.ended->aborted) {
          Bytes row(26);
          store_be<std::int16_t>(row.data(), 0);
          store_be<std::int64_t>(row.data() + 2, step.ended->producer.value());
          store_be<std::int64_t>(row.data() + 10, step.ended->first.value());
          store_be<std::int64_t>(row.data() + 18, step.ended->last.value());
          aborted = aborted + row;
        }
        end = info.last_offset.value() + 1;
        at += frame.size;
      }
      // A segment without an aborted transaction may have no index.
      const Bytes index = indexes.contains(base) ? read_file(indexes.at(base)) : Bytes{};
      Bytes theirs;
      for (std::size_t at = 0; at < index.size(); at += 34) theirs = theirs + part(index, at, 26);
      CHECK(aborted == theirs);
      if (base == logs.rbegin()->first) compare(end);
    }
    CHECK(compared == snapshots.size());
  }
}

TEST_CASE("a snapshot file is named by the first offset it does not cover") {
  MemoryFileSystem fs;
  fs.make_directories("d");
  ProducerState state;
  REQUIRE_FALSE(state.decode_snapshot(kWorked));
  CHECK(write_producer_snapshot(fs, "d", Offset(102), state) == "d/00000000000000000102.snapshot");
  CHECK(to_bytes(read_whole(fs, "d/00000000000000000102.snapshot")) == kWorked);
}
