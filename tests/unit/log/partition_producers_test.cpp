// What a partition log keeps of its producers: snapshots, .txnindex, and whom it lets append.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/io/memory_file_system.h"
#include "core/log/producer_admission.h"
#include "tests/support/produced.h"

using namespace tk;
using namespace tk::test;

namespace {

const std::string kDirectory = "/logs/t-0";
constexpr ProducerId kP{4000}, kQ{4001};

PartitionLog::Options small_segments() {
  PartitionLog::Options options;
  options.config.segment_bytes = 2000;
  options.config.index_interval_bytes = 100;
  options.lock_wait = 0;
  return options;
}

std::vector<std::int64_t> snapshots(FileSystem& fs) {
  std::vector<std::int64_t> offsets;
  for (const Offset offset : list_partition(fs, kDirectory).snapshots) offsets.push_back(offset.value());
  return offsets;
}

ErrorCode refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::unknown_server_error;
}

}  // namespace

// Each row by the rules of kafka-on-disk.md §6.1.
TEST_CASE("a leader takes what follows, knows what it has, and refuses the rest") {
  ProducerState state;
  ProducerState::Run(state, {kP, 3, 0, false}).add(Offset(10), 5, 1);  // sequences 0-4
  ProducerState::Run(state, {kP, 3, 5, false}).add(Offset(20), 2, 2);  // 5-6
  using Verdict = Admission::Verdict;
  const auto verdict = [&](std::int16_t epoch, std::int32_t first, std::int32_t last, ProducerId id = kP) {
    return admit(state, AdmissionQuestion{id, epoch, first, last, false}).verdict;
  };
  CHECK(verdict(3, 7, 9) == Verdict::append);
  CHECK(verdict(3, 8, 9) == Verdict::out_of_order);
  CHECK(verdict(3, 6, 9) == Verdict::out_of_order);
  CHECK(verdict(3, 5, 6) == Verdict::duplicate);
  CHECK(verdict(3, 0, 4) == Verdict::duplicate);
  CHECK(verdict(3, 0, 3) == Verdict::out_of_order);
  CHECK(verdict(2, 7, 9) == Verdict::old_epoch);
  CHECK(verdict(2, 5, 6) == Verdict::old_epoch);
  CHECK(verdict(4, 0, 9) == Verdict::append);
  CHECK(verdict(4, 7, 9) == Verdict::out_of_order);
  CHECK(verdict(0, 77, 80, kQ) == Verdict::append);  // nothing is known of it
  CHECK(verdict(0, 77, 80, kNoProducerId) == Verdict::append);
  const Admission copy = admit(state, AdmissionQuestion{kP, 3, 0, 4, false});
  CHECK(copy.copy.first_offset() == Offset(10));
  CHECK(copy.copy.last_offset == Offset(14));
}

TEST_CASE("only the last five batches are known as duplicates") {
  ProducerState state;
  ProducerState::Run run(state, {kP, 0, 0, false});
  for (std::int64_t i = 0; i < 6; ++i) run.add(Offset(i), 1, 0);
  CHECK(admit(state, AdmissionQuestion{kP, 0, 0, 0, false}).verdict == Admission::Verdict::out_of_order);
  CHECK(admit(state, AdmissionQuestion{kP, 0, 1, 1, false}).verdict == Admission::Verdict::duplicate);
}

TEST_CASE("sequences wrap from 2^31-1 to 0") {
  ProducerState state;
  ProducerState::Run(state, {kP, 0, INT32_MAX - 2, false}).add(Offset(0), 5, 0);
  CHECK(state.find(kP)->last_batch()->last_sequence == 1);
  CHECK(state.find(kP)->last_batch()->first_sequence() == INT32_MAX - 2);
  CHECK(*next_sequence(state, kP, 0) == 2);
  ProducerState::Run(state, {kQ, 0, INT32_MAX - 1, false}).add(Offset(5), 2, 0);
  CHECK(*next_sequence(state, kQ, 0) == 0);
}

TEST_CASE("a producer with a transaction open writes nothing beside it") {
  ProducerState state;
  ProducerState::Run(state, {kP, 0, 0, true}).add(Offset(0), 1, 0);
  CHECK(admit(state, AdmissionQuestion{kP, 0, 1, 1, false}).verdict ==
        Admission::Verdict::outside_transaction);
  CHECK(admit(state, AdmissionQuestion{kP, 0, 1, 1, true}).verdict == Admission::Verdict::append);
}

TEST_CASE("a partition without producers has no snapshot") {
  MemoryFileSystem fs;
  PartitionLog log(fs, kDirectory, small_segments());
  log.begin();
  for (int i = 0; i < 60; ++i)
    append_produced(log, TopicFormat::json, {kNoProducerId, -1, -1, false}, {"a value of some length"});
  log.close();
  CHECK(list_partition(fs, kDirectory).segments.size() > 1);
  CHECK(snapshots(fs).empty());
}

TEST_CASE("snapshots at the base of each segment and at the end, and the state survives") {
  for (const TopicFormat format : {TopicFormat::json, TopicFormat::kafka}) {
    MemoryFileSystem fs;
    std::int32_t sequence = 0;
    for (int run = 0; run < 3; ++run) {
      PartitionLog log(fs, kDirectory, small_segments());
      log.begin();
      for (int i = 0; i < 20; ++i) {
        append_produced(log, format, {kP, 0, sequence, false}, {"first value", "second value"});
        sequence += 2;
        if (i % 5 == 0) append_produced(log, format, {kNoProducerId, -1, -1, false}, {"nobody's"});
      }
      const std::string state = snapshot_of(log.producers());
      log.close();
      CHECK(producer_files_say(fs, kDirectory) == "");
      const PartitionFiles files = list_partition(fs, kDirectory);
      REQUIRE(files.segments.size() > 1);
      std::vector<std::int64_t> expected;
      for (std::size_t i = 1; i < files.segments.size(); ++i)
        expected.push_back(files.segments[i].base.value());
      const std::int64_t end = open_log_view(fs, kDirectory).log_end.value();
      if (expected.back() != end) expected.push_back(end);
      CHECK(snapshots(fs) == expected);
      PartitionLog again(fs, kDirectory, small_segments());
      again.begin();
      CHECK(snapshot_of(again.producers()) == state);
    }
    PartitionLog log(fs, kDirectory, small_segments());
    log.begin();
    const Offset end = log.log_end();
    CHECK(refusal([&] {
            append_produced(log, format, {kP, 0, sequence + 1, false}, {"gap"});
          }) == ErrorCode::out_of_order_sequence_number);
    append_produced(log, format, {kP, 1, 0, false}, {"a newer epoch"});
    CHECK(refusal([&] {
            append_produced(log, format, {kP, 0, sequence, false}, {"too late"});
          }) == ErrorCode::invalid_producer_epoch);
    CHECK(log.log_end() == end + 1);
    log.close();
    CHECK(producer_files_say(fs, kDirectory) == "");
  }
}

// The last stable offset of an entry: where the oldest other transaction then open begins, else behind the
// marker (kafka-on-disk.md §5.4).
TEST_CASE("aborted transactions are in the .txnindex of the marker's segment") {
  for (const TopicFormat format : {TopicFormat::json, TopicFormat::kafka}) {
    MemoryFileSystem fs;
    PartitionLog::Options options = small_segments();
    options.config.segment_bytes = 100000;
    PartitionLog log(fs, kDirectory, options);
    log.begin();
    append_produced(log, format, {kP, 0, 0, true}, {"p0", "p1"});  // 0, 1
    append_produced(log, format, {kQ, 0, 0, true}, {"q0"});        // 2
    append_marker(log, format, {kQ, 1, false, vectors::kT, 0});    // 3
    append_marker(log, format, {kP, 1, false, vectors::kT, 0});    // 4
    append_produced(log, format, {kQ, 1, 0, true}, {"q1"});        // 5
    append_marker(log, format, {kQ, 2, true, vectors::kT, 0});     // 6
    append_marker(log, format, {kQ, 3, false, vectors::kT, 0});    // 7: without data
    log.close();
    CHECK(txn_indexes(fs, kDirectory) ==
          as_txn_index({{kQ, Offset(2), Offset(3), Offset(0)}, {kP, Offset(0), Offset(4), Offset(5)}}));
    CHECK(producer_files_say(fs, kDirectory) == "");
  }
}

TEST_CASE("two writers in turns keep one .txnindex") {
  MemoryFileSystem fs;
  PartitionLog a(fs, kDirectory, small_segments()), b(fs, kDirectory, small_segments());
  std::vector<TxnIndexEntry> expected;
  for (std::int16_t turn = 0; turn < 12; ++turn) {
    PartitionLog& log = turn % 2 == 0 ? a : b;
    const ProducerId id = turn % 2 == 0 ? kP : kQ;
    log.begin();
    const Offset first = log.log_end();
    append_produced(log, TopicFormat::kafka, {id, turn, 0, true}, {"some value", "another one"});
    append_marker(log, TopicFormat::kafka, {id, static_cast<std::int16_t>(turn + 1), false, vectors::kT, 0});
    expected.push_back({id, first, first + 2, first + 3});
    turn % 3 == 0 ? log.close() : log.yield();
  }
  a.begin();
  a.close();
  CHECK(txn_indexes(fs, kDirectory) == as_txn_index(expected));
  CHECK(producer_files_say(fs, kDirectory) == "");
}

TEST_CASE("a broken snapshot is made anew, and one beyond the end goes") {
  MemoryFileSystem fs;
  {
    PartitionLog log(fs, kDirectory, small_segments());
    log.begin();
    append_produced(log, TopicFormat::json, {kP, 0, 0, false}, {"a", "b", "c"});
    log.close();
  }
  const std::string at_end = join_path(kDirectory, segment_file_name(Offset(3), kSnapshotSuffix));
  fs.flip_bit(at_end, 20, 1);
  write_producer_snapshot(fs, kDirectory, Offset(9), ProducerState());
  PartitionLog log(fs, kDirectory, small_segments());
  log.begin();
  CHECK(*next_sequence(log.producers(), kP, 0) == 3);
  append_produced(log, TopicFormat::json, {kP, 0, 3, false}, {"d"});
  log.close();
  CHECK(snapshots(fs) == std::vector<std::int64_t>{4});
  CHECK(producer_files_say(fs, kDirectory) == "");
}
