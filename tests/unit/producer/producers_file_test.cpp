// tk-producers.json: what is read, what is refused, what is kept.
#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/io/memory_file_system.h"
#include "core/producer/named_run.h"
#include "core/producer/producers_file.h"

using namespace tk;

namespace {

const std::string kPath = "/logs/tk-producers.json";

// The example of the design, and members that a later version may add.
const std::string kExample =
    R"({"format":1,"next_producer_id":4002,"producers":{"p1":{"producer_id":4000,"epoch":0,"partitions":{"t":3},)"
    R"("counts":{"t-0":1073741824},"color":"red"}},"transactions":{"A":{"producer_id":4001,"epoch":2,)"
    R"("state":"PrepareCommit","partitions":["t-0","a-b-1"],"groups":["g"],"timeout_ms":60000,)"
    R"("started_ms":1700000000000,"ended":"abort","size":[1,2]}},"later":{"x":1}})";

ErrorCode refusal(const std::string& text) {
  try {
    static_cast<void>(parse_producers_file(text, kPath));
  } catch (const Error& error) {
    CHECK(error.path() == kPath);
    return error.code();
  }
  return ErrorCode::unknown_server_error;
}

std::string with(const std::string& from, const std::string& to) {
  std::string text = kExample;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("what the file says is read") {
  const ProducersFile file = parse_producers_file(kExample, kPath);
  CHECK(file.next_producer_id == 4002);
  const NamedProducer& producer = file.producers.at("p1");
  CHECK(producer.id == ProducerId(4000));
  CHECK(producer.partitions.at("t") == 3);
  CHECK(producer.counts.at({"t", PartitionId(0)}) == 1073741824);
  const TransactionEntry& entry = file.transactions.at("A");
  CHECK(entry.id == ProducerId(4001));
  CHECK(entry.epoch == 2);
  CHECK(entry.state == TransactionState::prepare_commit);
  CHECK(entry.partitions == std::vector<TopicPartition>{{"a-b", PartitionId(1)}, {"t", PartitionId(0)}});
  CHECK(entry.groups == std::vector<std::string>{"g"});
  CHECK(entry.timeout_ms == 60000);
  CHECK(entry.started_ms == 1700000000000);
  CHECK(entry.committed == false);
  CHECK(file.known_ids() == std::vector<ProducerId>{ProducerId(4000), ProducerId(4001)});
}

TEST_CASE("what is written reads the same, unknown members included") {
  const std::string written = format_producers_file(parse_producers_file(kExample, kPath));
  CHECK(written.find(R"("color":"red")") != std::string::npos);
  CHECK(written.find(R"("size":[1,2])") != std::string::npos);
  CHECK(written.find(R"("later":{"x":1})") != std::string::npos);
  CHECK(format_producers_file(parse_producers_file(written, kPath)) == written);
  const std::string empty = format_producers_file(ProducersFile{});
  CHECK(format_producers_file(parse_producers_file(empty, kPath)) == empty);
}

TEST_CASE("a damaged file is refused, and one of another version") {
  CHECK(refusal("{\"format\":1,") == ErrorCode::corrupt_state);
  CHECK(refusal("[]") == ErrorCode::corrupt_state);
  CHECK(refusal("{}") == ErrorCode::corrupt_state);
  CHECK(refusal(with("\"format\":1", "\"format\":2")) == ErrorCode::unsupported_version);
  CHECK(refusal(with("4002", "-1")) == ErrorCode::corrupt_state);
  CHECK(refusal(with("4002", "18446744073709551615")) == ErrorCode::corrupt_state);
  CHECK(refusal(with("\"epoch\":2", "\"epoch\":32768")) == ErrorCode::corrupt_state);
  CHECK(refusal(with("\"epoch\":2", "\"epoch\":2.5")) == ErrorCode::corrupt_state);
  CHECK(refusal(with("PrepareCommit", "Dead")) == ErrorCode::corrupt_state);
  CHECK(refusal(with("\"t-0\",\"a-b-1\"", "\"../x-0\"")) == ErrorCode::corrupt_state);
  CHECK(refusal(with("\"t-0\",\"a-b-1\"", "7")) == ErrorCode::corrupt_state);
  CHECK(refusal(with("\"producer_id\":4000,", "")) == ErrorCode::corrupt_state);
  CHECK(refusal(with("60000", "0")) == ErrorCode::corrupt_state);
  CHECK(refusal(std::string(100, '[')) == ErrorCode::corrupt_state);
}

TEST_CASE("a transaction is due when it is decided, or open for longer than its timeout") {
  ProducersFile file;
  TransactionEntry& entry = file.transactions["A"];
  entry.started_ms = 1000;
  entry.timeout_ms = 50;
  CHECK_FALSE(file.has_due(99999));
  entry.state = TransactionState::ongoing;
  CHECK_FALSE(file.has_due(1050));
  CHECK(file.has_due(1051));
  entry.state = TransactionState::prepare_abort;
  CHECK(file.has_due(0));
}

// The least number of records at or above what was noted that ends in the sequence, as sequences have 31
// bits.
TEST_CASE("a sequence stands for one number of records") {
  constexpr std::int64_t wrap = std::int64_t{1} << 31;
  CHECK(records_of_sequence(0, 0) == 1);
  CHECK(records_of_sequence(INT32_MAX, 0) == wrap);
  CHECK(records_of_sequence(4, wrap / 2) == wrap + 5);
  CHECK(records_of_sequence(INT32_MAX, wrap / 2) == wrap);
  CHECK(records_of_sequence(4, wrap + 5) == wrap + 5);
  CHECK(records_of_sequence(4, wrap + 6) == 2 * wrap + 5);
  CHECK(records_of_sequence(9, 3 * wrap - 7) == 3 * wrap + 10);
}

TEST_CASE("names of producers") {
  MemoryFileSystem fs;
  fs.make_directories("/logs");
  const auto run = [&](const std::string& name, const std::string& topic, std::int32_t partitions) {
    NamedRun::Options options;
    options.name = name;
    options.topic = topic;
    options.partitions = partitions;
    options.lock_wait = 0;
    return std::make_unique<NamedRun>(fs, "/logs", std::move(options));
  };
  const auto code = [&](const std::string& name, const std::string& topic, std::int32_t partitions) {
    try {
      static_cast<void>(run(name, topic, partitions));
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::unknown_server_error;
  };
  {
    const auto first = run("a", "t", 3);
    CHECK(first->id() == ProducerId(kFirstProducerId));
    CHECK(code("a", "t", 3) == ErrorCode::log_dir_locked);  // while it runs
    CHECK(run("b", "t", 3)->id() == ProducerId(kFirstProducerId + 1));
  }
  CHECK(run("a", "t", 3)->id() == ProducerId(kFirstProducerId));
  CHECK(run("a", "u", 5)->id() == ProducerId(kFirstProducerId));
  CHECK(code("a", "t", 4) == ErrorCode::out_of_order_sequence_number);
  CHECK(code("", "t", 3) == ErrorCode::invalid_request);
  CHECK(code("\xff", "t", 3) == ErrorCode::invalid_request);
  CHECK_THROWS_AS(delete_named_producer(fs, "/logs", "c", 0), Error);
  {
    const auto running = run("a", "t", 3);
    CHECK_THROWS_AS(delete_named_producer(fs, "/logs", "a", 0), Error);
  }
  delete_named_producer(fs, "/logs", "a", 0);
  CHECK(run("a", "t", 4)->id() == ProducerId(kFirstProducerId + 2));
}
