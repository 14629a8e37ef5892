// What a full pass over a partition finds: the field cases, with their positions, and edits of whole logs.
#include "core/log/verify.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/format/checkpoint_file.h"
#include "core/io/memory_file_system.h"
#include "tests/support/log_maker.h"

using namespace tk;
using namespace tk::test;
namespace v = tk::test::vectors;

namespace {

const std::string kDirectory = "/logs/t-0";

struct Found {
  std::vector<Problem> problems;
  VerifyTotals totals;

  /// The problems that are more than a note.
  [[nodiscard]] std::vector<Problem> wrong() const {
    std::vector<Problem> wrong;
    for (const Problem& problem : problems) {
      if (problem.severity != Severity::note) wrong.push_back(problem);
    }
    return wrong;
  }
  [[nodiscard]] bool has(Severity severity, std::string_view kind) const {
    for (const Problem& problem : problems) {
      if (problem.severity == severity && problem.kind == kind) return true;
    }
    return false;
  }
};

Found verify(FileSystem& fs, VerifyScope scope = {}) {
  Found found;
  PartitionVerifier verifier(
      fs, [&](const Problem& problem) { found.problems.push_back(problem); }, [] { return false; });
  verifier.verify(kDirectory, scope);
  found.totals = verifier.totals();
  return found;
}

Found verify(const Bytes& log, std::int64_t base = 0, VerifyScope scope = {}) {
  MemoryFileSystem fs;
  write_segment(fs, kDirectory, base, log);
  return verify(fs, scope);
}

Bytes hex(std::string_view text) {
  return from_hex(text);
}
const Bytes kA = from_hex(v::kA), kB = from_hex(v::kB), kC = from_hex(v::kC);

/// The only problem that is more than a note.
Problem the_problem(const Found& found) {
  const auto wrong = found.wrong();
  REQUIRE(wrong.size() == 1);
  return wrong[0];
}

}  // namespace

TEST_CASE("whole logs have nothing wrong, in every format") {
  for (const Bytes& log : {kA + kB + kC, hex(v::kG1), hex(v::kN), hex(v::kS2), hex(v::kL2), hex(v::kO)}) {
    const Found found = verify(log);
    CHECK(found.problems.empty());
    CHECK(found.totals.batches > 0);
  }
  const Found three = verify(kA + kB + kC);
  CHECK(three.totals.batches == 3);
  CHECK(three.totals.records == 3);
  CHECK(three.totals.bytes == 207);
  // An empty active segment without indexes (R07); the cleaner's empty batches (R59); a wrapper's offsets
  // (R47).
  CHECK(verify(Bytes{}, 42).problems.empty());
  CHECK(verify(hex(v::kE) + hex(v::kTH), 5).wrong().empty());
  CHECK(verify(hex(v::kW1), 100).wrong().empty());
}

TEST_CASE("R01: one flipped byte costs one batch, and what follows is counted") {
  Bytes log = kA + kB + kC;
  log[136] = 0x63;
  const Problem problem = the_problem(verify(log));
  CHECK(problem.severity == Severity::damage);
  CHECK(problem.kind == "bad_crc");
  CHECK(problem.position == 69u);
  CHECK(problem.offset == Offset(1));
  CHECK(problem.found == 3712301227);
  CHECK(problem.expected == 3471286492);
  REQUIRE(problem.range);
  CHECK(problem.range->end == 138);
  CHECK(problem.range->offsets == std::pair(Offset(1), Offset(1)));
  CHECK_FALSE(problem.range->offsets_verified);
  CHECK(problem.range->next_good_offset == Offset(2));
  CHECK(problem.range->next_good_position == 138u);
  CHECK(problem.range->good_units_after == 1);
  CHECK(verify(log).totals.batches == 2);
}

TEST_CASE("R19: the offsets of a bad batch, and where the next good one begins") {
  Bytes log = hex(v::kO) + at_offset(kC, 3);
  log[86] ^= 1;
  const Problem problem = the_problem(verify(log));
  REQUIRE(problem.range);
  CHECK(problem.range->begin == 0);
  CHECK(problem.range->end == 87);
  CHECK(problem.range->offsets == std::pair(Offset(0), Offset(2)));
  CHECK(problem.range->next_good_offset == Offset(3));
  CHECK(problem.range->next_good_position == 87u);
}

TEST_CASE("R02, R03, R111: the ends that a crash leaves, and the one that it does not") {
  const Problem torn = the_problem(verify(cut(kA + kB, 100)));
  CHECK(torn.kind == "torn_tail");
  CHECK(torn.position == 69u);
  REQUIRE(torn.range);
  CHECK(torn.range->end - torn.range->begin == 31);
  const Problem zeros = the_problem(verify(kA + Bytes(1 << 20, 0)));
  CHECK(zeros.kind == "zero_tail");
  CHECK(zeros.position == 69u);
  const Found garbage = verify(kA + kB + Random(7).bytes(50));
  CHECK(the_problem(garbage).position == 138u);
  CHECK(garbage.totals.batches == 2);
}

TEST_CASE("a torn tail is a note while a writer holds the partition") {
  MemoryFileSystem fs;
  write_segment(fs, kDirectory, 0, cut(kA + kB, 100));
  const auto lock = fs.open_lock(kDirectory + "/.lock");
  REQUIRE(lock->try_lock(LockKind::exclusive, 0, 1));
  const Found found = verify(fs);
  CHECK(found.wrong().empty());
  CHECK(found.has(Severity::note, "torn_tail"));
}

TEST_CASE("R11: checksums are good, offsets are not") {
  const Problem repeated = the_problem(verify(kA + kA));
  CHECK(repeated.kind == "offset_regression");
  CHECK(repeated.position == 69u);
  CHECK(repeated.found == 0);
  CHECK(repeated.expected == 1);
  Bytes log = kA + kB + kC;
  log[76] = 9;
  const Problem back = the_problem(verify(log));
  CHECK(back.kind == "offset_regression");
  CHECK(back.position == 138u);
  CHECK(back.found == 2);
  CHECK(back.expected == 10);
  REQUIRE(back.range);
  CHECK(back.range->begin == 69);
}

TEST_CASE("R41: a gap is a note; many of them are counted") {
  const Found one = verify(kA + kC);
  CHECK(one.wrong().empty());
  REQUIRE(one.problems.size() == 1);
  CHECK(one.problems[0].kind == "gap");
  CHECK(one.problems[0].offset == Offset(1));
  Bytes log;
  for (int i = 0; i < 100; ++i) log = log + at_offset(kA, 2 * i);
  const Found many = verify(log);
  CHECK(many.wrong().empty());
  REQUIRE(many.problems.size() == 21);
  CHECK(many.problems.back().found == 79);
}

TEST_CASE("a missing segment is damage, unless the partition was compacted") {
  MemoryFileSystem fs;
  write_segment(fs, kDirectory, 0, kA);
  write_segment(fs, kDirectory, 2, kC);
  CHECK(verify(fs).has(Severity::damage, "gap"));
  VerifyScope compacted;
  compacted.compacted = true;
  CHECK(verify(fs, compacted).has(Severity::note, "gap"));
  CHECK(verify(fs, compacted).wrong().empty());
}

TEST_CASE("R43, R44: codec faults behind a good checksum") {
  CHECK(the_problem(verify(hex(v::kL4))).kind == "record");
  CHECK(the_problem(verify(hex(v::kL5))).kind == "record");
  VerifyScope quick;
  quick.quick = true;
  CHECK(verify(hex(v::kL4), 0, quick).problems.empty());
}

TEST_CASE("an offset that the segment cannot index") {
  const Problem problem = the_problem(verify(kA + at_offset(kB, std::int64_t{1} << 31)));
  CHECK(problem.kind == "offset_regression");
  CHECK(problem.position == 69u);
}

TEST_CASE("json records without a checksum are counted") {
  const Found found = verify(hex(v::kJ));
  CHECK(found.wrong().empty());
  CHECK(found.totals.unprotected == 2);
  CHECK(found.totals.records == 2);
}

TEST_CASE("batches that Kafka takes though they are odd are named") {
  std::ifstream file(std::string(TK_FIXTURES) + "/vectors/batches.ndjson");
  int seen = 0;
  for (std::string line; std::getline(file, line);) {
    const auto vector = nlohmann::json::parse(line);
    const std::string name = vector["name"];
    if (!name.starts_with("odd-")) continue;
    const Bytes unit = from_hex(vector["hex"].get<std::string>());
    const auto base = load_be<std::int64_t>(unit.data());
    const Found found = verify(unit, base < 0 ? 0 : base);
    CAPTURE(name);
    // Its codec is used in an unusual way, which is no trouble.
    const bool rare_form = name.find("odd-gzip") == 0 || name.find("odd-snappy") == 0 ||
                           name.find("odd-zstd") == 0 || name == "odd-lz4-plain-crcfixed" ||
                           name == "odd-lz4-bytes-after-end-mark-crcfixed" ||
                           name == "odd-empty-payload-count-0-gzip-crcfixed" || name.find("odd-m") == 0;
    if (!rare_form) CHECK_FALSE(found.problems.empty());
    const bool untrustworthy = name.find("offset-delta-negative") != std::string::npos ||
                               name.find("deltas-equal") != std::string::npos ||
                               name.find("last-offset-delta-0") != std::string::npos;
    if (untrustworthy) CHECK(found.has(Severity::damage, "record"));
    ++seen;
  }
  CHECK(seen > 20);
}

TEST_CASE("the header's largest timestamp must be that of the records") {
  BatchBuilder builder;
  Buffer out;
  builder.start();
  builder.add(out, v::kT, std::nullopt, "x", {});
  BatchFields fields;
  fields.base_offset = Offset(0);
  fields.max_timestamp = v::kT + 1;
  Compressor compressor;
  builder.finish(fields, {}, compressor, out);
  const Problem problem = the_problem(verify({out.data(), out.data() + out.size()}));
  CHECK(problem.kind == "record");
  CHECK(problem.found == v::kT + 1);
  CHECK(problem.expected == v::kT);
}

TEST_CASE("leader epochs: they never go back, and the checkpoint agrees") {
  auto with_epoch = [](Bytes unit, std::int32_t epoch) {
    store_be<std::int32_t>(unit.data() + batch_layout::kLeaderEpoch, epoch);
    return unit;
  };
  const Problem back = the_problem(verify(kA + with_epoch(kB, 5) + kC));
  CHECK(back.position == 138u);
  CHECK(back.found == 0);
  CHECK(back.expected == 5);

  const auto with_checkpoint = [&](std::string_view text, bool broker = false) {
    MemoryFileSystem fs;
    write_segment(fs, kDirectory, 0, kA + with_epoch(kB, 1) + with_epoch(kC, 1));
    write_file(fs, kDirectory + "/leader-epoch-checkpoint", to_bytes(text));
    VerifyScope scope;
    scope.in_broker_directory = broker;
    return verify(fs, scope);
  };
  CHECK(with_checkpoint("0\n2\n0 0\n1 1\n").problems.empty());
  CHECK(with_checkpoint("0\n3\n0 0\n1 1\n2 3\n").problems.empty());
  for (const char* text :
       {"0\n2\n0 0\n1 2\n", "0\n2\n0 0\n", "7\n1\n0 0\n", "0\n2\n1 0\n0 1\n", "0\n3\n0 0\n1 1\n2 9\n"}) {
    CAPTURE(text);
    CHECK(with_checkpoint(text).has(Severity::derived, "epoch_checkpoint"));
  }
  CHECK(with_checkpoint("", true).has(Severity::derived, "epoch_checkpoint"));
}

TEST_CASE("sequence numbers that go back, and a batch that repeats") {
  auto log = [](std::vector<std::int32_t> sequences) {
    LogMaker maker;
    for (const std::int32_t sequence : sequences) {
      BatchFields fields;
      fields.producer_id = ProducerId(7);
      fields.producer_epoch = 0;
      fields.base_sequence = sequence;
      maker.batch({v::kT, v::kT}, Codec::none, "value", fields);
    }
    return maker.bytes();
  };
  CHECK(verify(log({0, 2, 4})).problems.empty());
  CHECK(verify(log({4, 8, 0, 2})).problems.empty());
  CHECK(verify(log({INT32_MAX - 3, INT32_MAX - 1, 0, 2})).problems.empty());
  CHECK(verify(log({0, 1000, 4})).has(Severity::damage, "record"));
  const Found repeated = verify(log({2, 4, 4}));
  CHECK(repeated.wrong().empty());
  CHECK(repeated.has(Severity::note, "record"));
}

TEST_CASE("the ends of the log: checkpoints, snapshots and orphans that know of more") {
  const auto with = [](std::string_view name, VerifyScope scope = {}) {
    MemoryFileSystem fs;
    write_segment(fs, kDirectory, 0, kA + kB + kC);
    if (!name.empty()) write_file(fs, kDirectory + "/" + std::string(name), from_hex("000148674bc700000000"));
    return verify(fs, scope);
  };
  CHECK(with("00000000000000000900.snapshot").has(Severity::derived, "snapshot"));
  VerifyScope scope;
  scope.high_watermark = Offset(3);
  CHECK(with("", scope).problems.empty());
  scope.high_watermark = Offset(4);
  CHECK(with("", scope).has(Severity::damage, "offset_checkpoint"));
  VerifyScope start;
  start.log_start = Offset(500);
  CHECK(with("", start).has(Severity::derived, "offset_checkpoint"));
}

TEST_CASE("what does not belong there is a note, an interrupted replacement more than that") {
  MemoryFileSystem fs;
  write_segment(fs, kDirectory, 0, kA + kB + kC);
  for (const char* name : {"notes.txt", "00000000000000000000.log.deleted", "00000000000000000060.index",
                           "leader-epoch-checkpoint.tmp", "00000000000000000000.index.cleaned"}) {
    write_file(fs, kDirectory + "/" + name, kA);
  }
  const Found found = verify(fs);
  CHECK(found.wrong().empty());
  CHECK(found.totals.notes == 5);
  write_file(fs, kDirectory + "/00000000000000000000.log.swap", kA + kC);
  fs.remove(kDirectory + "/00000000000000000000.index.cleaned");
  CHECK(verify(fs).has(Severity::derived, "leftover"));
}
