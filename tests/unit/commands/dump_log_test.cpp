// Whole runs of dump-log over small logs, whose bytes were made by an independent encoder, in memory.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/dump_log_options.h"
#include "core/io/memory_file_system.h"
#include "core/io/output.h"

using namespace tk;

namespace {

// One record each, timestamps 1700000000000, ...01, ...02; 69 bytes.
constexpr std::string_view kA =
    "0000000000000000000000390000000002965a94b10000000000000000018bcfe568000000018bcfe56800ffffffffffffffffff"
    "ffffffffff"
    "000000010e00000001026100";
constexpr std::string_view kB =
    "0000000000000001000000390000000002dd4538ab0000000000000000018bcfe568010000018bcfe56801ffffffffffffffffff"
    "ffffffffff"
    "000000010e00000001026200";
constexpr std::string_view kC =
    "00000000000000020000003900000000024eefad590000000000000000018bcfe568020000018bcfe56802ffffffffffffffffff"
    "ffffffffff"
    "000000010e00000001026300";
// A COMMIT marker of producer 4005, coordinator epoch 7, at offset 2; and the same with an unknown type.
constexpr std::string_view kMarker =
    "000000000000000200000042000000000240d40e160030000000000000018bcfe568010000018bcfe568010000000000000fa500"
    "12ffffffff"
    "000000012000000008000000010c00000000000700";
constexpr std::string_view kUnknownMarker =
    "00000000000000020000004200000000029690ca440030000000000000018bcfe568010000018bcfe568010000000000000fa500"
    "12ffffffff"
    "000000012000000008000000630c00000000000700";
// Headers a=1, a=2, n=null, e=empty.
constexpr std::string_view kHeaders =
    "0000000000000000000000480000000002771298240000000000000000018bcfe568000000018bcfe56800ffffffffffffffffff"
    "ffffffffff"
    "000000012c000000026b0276080261023102610232026e01026500";
// Two records of the json format with the body {}.
constexpr std::string_view kJson = "0000000000000000000000027b7d0000000000000001000000027b7d";

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

class Said : public Diagnostics {
 public:
  Said() : Diagnostics(false, false) {}
  std::string text;

 protected:
  void emit(std::string_view lines) override { text += lines; }
};

struct Run {
  MemoryFileSystem fs;
  DumpLogOptions options;
  bool json = false;
  std::string out;
  std::string err;

  void file(const std::string& path, const std::string& bytes) {
    fs.make_directories(parent_path(path));
    fs.open(path, OpenMode::create)->write_at(0, as_bytes(bytes));
  }
  int operator()() {
    std::FILE* const target = std::tmpfile();
    REQUIRE(target != nullptr);
    OutputStream stream(fileno(target));
    Said said;
    const FixedClock clock(0);
    const std::atomic<int> interrupted{0};
    Context context{.directory = "/logs",
                    .json = json,
                    .default_format = {},
                    .clock = clock,
                    .fs = fs,
                    .out = stream,
                    .diagnostics = said,
                    .interrupted = interrupted};
    const int code = run_dump_log(options, context);
    stream.flush();
    std::rewind(target);
    out.clear();
    char block[4096];
    for (std::size_t got; (got = std::fread(block, 1, sizeof block, target)) > 0;) out.append(block, got);
    std::fclose(target);
    err = said.text;
    return code;
  }
};

std::size_t count_of(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

const std::string kSegment = "/logs/t-0/00000000000000000000.log";

}  // namespace

TEST_CASE("a flipped byte costs one batch and is named with what follows") {
  Run run;
  std::string bytes = bytes_of(kA) + bytes_of(kB) + bytes_of(kC);
  bytes[136] = 'c';
  run.file(kSegment, bytes);
  run.options.targets.names = {"t"};
  run.options.print_data_log = run.options.deep_iteration = true;
  CHECK(run() == 3);
  CHECK(run.out.find(
            "position: 69 CreateTime: 1700000000001 size: 69 magic: 2 compresscodec: none crc: 3712301227 "
            "isvalid: false\nbaseOffset: 2 ") != std::string::npos);
  CHECK(count_of(run.out, "isvalid: true") == 2);
  CHECK(count_of(run.out, "payload: ") == 2);
  CHECK(run.err.find("stored 3712301227, computed 3471286492") != std::string::npos);
  CHECK(run.err.find("byte 138 with offset 2") != std::string::npos);
  CHECK(run.err.find("byte 69\n") != std::string::npos);
}

TEST_CASE("a torn or unwritten tail of the last segment is no damage, before another segment it is") {
  Run run;
  run.options.targets.names = {"/logs/t-0"};
  SUBCASE("torn") {
    run.file(kSegment, (bytes_of(kA) + bytes_of(kB)).substr(0, 100));
  }
  SUBCASE("zeros") {
    run.file(kSegment, bytes_of(kA) + std::string(31, '\0'));
  }
  CHECK(run() == 0);
  CHECK(run.out.ends_with("isvalid: true\nFound 31 invalid bytes at the end of 00000000000000000000.log\n"));
  CHECK(run.err == "");
  run.file("/logs/t-0/00000000000000000002.log", bytes_of(kC));
  CHECK(run() == 3);
  CHECK(count_of(run.out, "Found 31 invalid bytes") == 1);
  CHECK(run.out.find("baseOffset: 2 ") != std::string::npos);
}

TEST_CASE("bytes where nothing begins are stepped over") {
  Run run;
  run.file(kSegment, bytes_of(kA) + "garbage garbage garbage garbage" + bytes_of(kC));
  run.options.targets.names = {kSegment};
  run.json = true;
  CHECK(run() == 3);
  CHECK(count_of(run.out, "\n") == 3);
  CHECK(run.out.find(
            R"({"type":"damage","file":"/logs/t-0/00000000000000000000.log","position":69,"size":31,)") !=
        std::string::npos);
  CHECK(run.out.find(R"("position":100,"size":69,"magic":2,"base_offset":2,)") != std::string::npos);
}

TEST_CASE("one missing and one damaged of three: the rest is dumped, damage outweighs") {
  Run run;
  run.file("/x/good.log", bytes_of(kA));
  run.file("/x/bad.log", std::string(40, 'x'));
  run.options.targets.names = {"/x/bad.log", "/x/missing.log", "/x/good.log"};
  CHECK(run() == 3);
  CHECK(run.out.find("Dumping /x/bad.log\n") != std::string::npos);
  CHECK(run.out.find("Found 40 invalid bytes at the end of bad.log\n") != std::string::npos);
  CHECK(run.out.find("Dumping /x/good.log\nLog starting offset: 0\nbaseOffset: 0 ") != std::string::npos);
  run.options.targets.names = {"/x/missing.log", "/x/good.log"};
  CHECK(run() == 1);
}

TEST_CASE("a repeated batch is shown and named") {
  Run run;
  run.file(kSegment, bytes_of(kA) + bytes_of(kA));
  run.options.targets.names = {"t-0"};
  CHECK(run() == 3);
  CHECK(count_of(run.out, "baseOffset: 0 lastOffset: 0 ") == 2);
  CHECK(run.err.find("offset_regression") != std::string::npos);
}

TEST_CASE("gaps are information") {
  Run run;
  run.file(kSegment, bytes_of(kA) + bytes_of(kC));
  run.options.targets.names = {"t"};
  run.options.deep_iteration = true;
  CHECK(run() == 0);
  CHECK(run.err ==
        "tk: Non-consecutive offsets in /logs/t-0/00000000000000000000.log\ntk:   0 is followed by 2\n");
}

TEST_CASE("control records have names and fields, unknown ones their number") {
  Run run;
  run.options.targets.names = {"t"};
  run.options.print_data_log = run.options.deep_iteration = true;
  run.file(kSegment, bytes_of(kA) + bytes_of(kB) + bytes_of(kMarker));
  CHECK(run() == 0);
  CHECK(run.out.ends_with(
      "| offset: 2 CreateTime: 1700000000001 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] "
      "endTxnMarker: COMMIT coordinatorEpoch: 7\n"));
  run.json = true;
  CHECK(run() == 0);
  CHECK(run.out.ends_with(
      R"({"type":"record","offset":2,"ts":1700000000001,"key_b64":"AAAAAQ==","value_b64":"AAAAAAAH","headers":[],)"
      R"("sequence":-1,"control":{"type":"COMMIT","type_id":1,"coordinator_epoch":7}})"
      "\n"));
  run.file(kSegment, bytes_of(kA) + bytes_of(kB) + bytes_of(kUnknownMarker));
  CHECK(run() == 0);
  CHECK(run.out.ends_with("\"control\":{\"type\":\"UNKNOWN\",\"type_id\":99}}\n"));
}

TEST_CASE("objects hold headers in order, null and empty apart") {
  Run run;
  run.file(kSegment, bytes_of(kHeaders));
  run.options.targets.names = {"t"};
  run.options.print_data_log = run.options.deep_iteration = true;
  run.json = true;
  CHECK(run() == 0);
  CHECK(
      run.out ==
      R"({"type":"batch","file":"/logs/t-0/00000000000000000000.log","position":0,"size":84,"magic":2,)"
      R"("base_offset":0,"last_offset":0,"count":1,"codec":"none","crc":1997707300,"valid":true,"leader_epoch":0,)"
      R"("producer_id":-1,"producer_epoch":-1,"base_sequence":-1,"transactional":false,"control":false,)"
      R"("max_ts":1700000000000,"last_offset_delta":0,"base_timestamp":1700000000000,)"
      R"("timestamp_type":"CreateTime","delete_horizon_ms":null,"attributes":0})"
      "\n"
      R"({"type":"record","offset":0,"ts":1700000000000,"key":"k","value":"v",)"
      R"("headers":[["a","1"],["a","2"],["n",null],["e",""]],"sequence":-1})"
      "\n");
}

TEST_CASE("offsets are a half-open range") {
  Run run;
  run.file(kSegment, bytes_of(kA) + bytes_of(kB) + bytes_of(kC));
  run.options.targets.names = {"t"};
  run.options.from_offset = 1;
  run.options.to_offset = 2;
  CHECK(run() == 0);
  CHECK(count_of(run.out, "baseOffset: ") == 1);
  CHECK(run.out.find("baseOffset: 1 ") != std::string::npos);
}

TEST_CASE("a json segment") {
  Run run;
  run.file(kSegment, bytes_of(kJson));
  run.options.targets.topics = {"t"};
  CHECK(run() == 0);
  CHECK(count_of(run.out, "keySize: -1 valueSize: -1 crc: none isvalid: true\n") == 2);
  CHECK(run.out.find("\noffset: 1 position: 14 size: 14 ") != std::string::npos);
}

TEST_CASE("index entries are compared with the log") {
  Run run;
  run.file(kSegment, bytes_of(kA) + bytes_of(kB) + bytes_of(kC));
  const std::string index = "/logs/t-0/00000000000000000000.index";
  run.options.targets.names = {index};
  SUBCASE("right") {
    run.file(index, bytes_of("0000000100000045") + std::string(80, '\0'));
    CHECK(run() == 0);
    CHECK(run.out == "Dumping " + index + "\noffset: 1 position: 69\n");
    CHECK(run.err == "");
  }
  SUBCASE("another offset") {
    run.file(index, bytes_of("0000000200000045"));
    CHECK(run() == 0);
    CHECK(run.err == "tk: Mismatches in :" + index + "\ntk:   Index offset: 2, log offset: 1\n");
  }
  SUBCASE("behind the log") {
    run.file(index, bytes_of("0000000100100000"));
    CHECK(run() == 3);
    CHECK(run.out == "Dumping " + index + "\noffset: 1 position: 1048576\n");
  }
  SUBCASE("sanity") {
    run.options.index_sanity_check = true;
    run.file(index, bytes_of("0000000100000045"));
    CHECK(run() == 0);
    CHECK(run.out == "Dumping " + index + "\n" + index + " passed sanity check.\n");
    run.file(index, bytes_of("000000010000004500"));
    CHECK(run() == 3);
  }
  SUBCASE("no log") {
    run.fs.remove(kSegment);
    run.file(index, bytes_of("0000000100000045"));
    CHECK(run() == 1);
  }
}
