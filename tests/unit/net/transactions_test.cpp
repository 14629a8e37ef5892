// Transactions over the wire, answer by answer (serve.md §2.8; the recordings' errors.md).
#include <doctest/doctest.h>

#include "core/format/batch.h"
#include "core/net/kafka/errors.h"
#include "tests/support/served.h"

namespace tk::kafka {
namespace {

struct Producer {
  std::int64_t id = -1;
  std::int16_t epoch = -1;
};

class World {
 public:
  World() { served.create_topic("t", 2); }

  Producer init(const std::string& id, std::int16_t expected = kNone, std::optional<Producer> held = {}) {
    InitProducerIdRequest request;
    request.transactional_id = id;
    request.transaction_timeout_ms = 10000;
    if (held) {
      request.producer_id = held->id;
      request.producer_epoch = held->epoch;
    }
    const auto answer = served.ask<InitProducerIdResponse>(request, 5);
    CHECK(answer.error_code == expected);
    return {answer.producer_id, answer.producer_epoch};
  }

  std::int16_t add(const std::string& id, Producer producer, std::vector<std::int32_t> partitions,
                   std::int16_t version = 3) {
    AddPartitionsToTxnRequest request;
    request.transactional_id = id;
    request.producer_id = producer.id;
    request.producer_epoch = producer.epoch;
    request.topics.push_back({"t", std::move(partitions)});
    return served.ask<AddPartitionsToTxnResponse>(request, version)
        .results.at(0)
        .results_by_partition.at(0)
        .partition_error_code;
  }

  static Buffer produce_frame(const std::string& id, Producer producer, std::int32_t sequence,
                              std::int16_t version, std::int32_t partition, bool transactional,
                              std::int64_t now_ms) {
    Buffer batch;
    BatchBuilder builder;
    Compressor compressor;
    builder.start();
    builder.add(batch, now_ms, std::string_view("k"), std::string_view("v"), {});
    BatchFields fields;
    fields.producer_id = ProducerId(producer.id);
    fields.producer_epoch = producer.epoch;
    fields.base_sequence = sequence;
    if (transactional) fields.attribute_bits = kTransactionalBit;
    builder.finish(fields, {}, compressor, batch);
    ProduceRequest request;
    if (!id.empty()) request.transactional_id = id;
    request.acks = -1;
    request.timeout_ms = 5000;
    auto& topic = request.topic_data.emplace_back();
    topic.name = "t";
    auto& data = topic.partition_data.emplace_back();
    data.index = partition;
    data.records.in = batch.view();
    return test::Served::frame_of(std::move(request), version);
  }

  using Row = ProduceResponse::Response::PartitionResponse;
  static Row row_of(const std::optional<std::vector<std::uint8_t>>& answer, std::int16_t version) {
    return test::Served::response_of<ProduceResponse, ProduceRequest>(answer, version)
        .responses.at(0)
        .partition_responses.at(0);
  }
  std::int16_t produce(const std::string& id, Producer producer, std::int32_t sequence,
                       std::int16_t version = 11, std::int32_t partition = 0, bool transactional = true) {
    const Buffer frame =
        produce_frame(id, producer, sequence, version, partition, transactional, served.clock().now_ms());
    return row_of(served.ask(frame.view()), version).error_code;
  }

  EndTxnResponse end(const std::string& id, Producer producer, bool commit, std::int16_t version = 3) {
    EndTxnRequest request;
    request.transactional_id = id;
    request.producer_id = producer.id;
    request.producer_epoch = producer.epoch;
    request.committed = commit;
    return served.ask<EndTxnResponse>(request, version);
  }

  struct Fetched {
    std::int64_t end, stable;
    std::size_t bytes, aborted;
  };
  Fetched fetch(bool committed, std::int64_t offset = 0) {
    FetchRequest request;
    request.max_wait_ms = 0;
    request.isolation_level = committed ? 1 : 0;
    auto& topic = request.topics.emplace_back();
    topic.topic = "t";
    auto& partition = topic.partitions.emplace_back();
    partition.fetch_offset = offset;
    partition.partition_max_bytes = 1 << 20;
    const auto answer = served.ask<FetchResponse>(request, 11);
    const auto& row = answer.responses.at(0).partitions.at(0);
    CHECK(row.error_code == kNone);
    return {row.high_watermark, row.last_stable_offset, row.records.in ? row.records.in->size() : 0,
            row.aborted_transactions ? row.aborted_transactions->size() : 0};
  }

  test::Served served;
};

TEST_CASE("a transaction of version 1: partitions are added, the epoch stays, markers end it") {
  World world;
  const Producer p = world.init("a");
  CHECK(p.epoch == 0);
  CHECK(world.produce("a", p, 0) == kTransactionAbortable);
  CHECK(world.produce("a", p, 0, 9) == kInvalidTxnState);
  CHECK(world.add("a", p, {0, 7}) == kOperationNotAttempted);
  CHECK(world.add("a", p, {0}) == kNone);
  CHECK(world.produce("a", p, 0) == kNone);
  CHECK(world.fetch(false).end == 1);
  CHECK(world.fetch(true).stable == 0);
  CHECK(world.fetch(true).bytes == 0);
  CHECK(world.end("a", p, true).error_code == kNone);
  CHECK(world.fetch(true).stable == 2);
  CHECK(world.fetch(true).bytes > 0);
  CHECK(world.fetch(true).aborted == 0);
  // Asked again: the same; the other way: no.
  CHECK(world.end("a", p, true).error_code == kNone);
  CHECK(world.end("a", p, false).error_code == kInvalidTxnState);
  // The next one goes on in the same epoch, with the next sequence.
  CHECK(world.add("a", p, {0}) == kNone);
  CHECK(world.produce("a", p, 1) == kNone);
  CHECK(world.end("a", p, false).error_code == kNone);
  CHECK(world.fetch(true).aborted == 1);
  CHECK(world.fetch(true).stable == 4);
  world.served.restart();
  CHECK(world.fetch(true).aborted == 1);
  CHECK(world.end("a", p, false).error_code == kNone);
}

TEST_CASE("a transaction of version 2: partitions come with the batches, an end raises the epoch") {
  World world;
  Producer p = world.init("b");
  CHECK(world.produce("b", p, 0, 12) == kNone);
  CHECK(world.end("b", {p.id + 1, p.epoch}, true, 5).error_code == kInvalidProducerIdMapping);
  const auto ended = world.end("b", p, true, 5);
  CHECK(ended.error_code == kNone);
  CHECK(ended.producer_id == p.id);
  CHECK(ended.producer_epoch == p.epoch + 1);
  CHECK(world.fetch(true).stable == 2);
  // The answer was lost: the same again, and nothing else.
  CHECK(world.end("b", p, true, 5).producer_epoch == p.epoch + 1);
  CHECK(world.end("b", p, false, 5).error_code == kInvalidTxnState);
  CHECK(world.produce("b", p, 1, 12) == kInvalidProducerEpoch);
  p.epoch = ended.producer_epoch;
  CHECK(world.end("b", p, true, 5).error_code == kInvalidTxnState);
  CHECK(world.produce("b", p, 0, 12) == kNone);
  CHECK(world.end("b", p, false, 5).producer_epoch == p.epoch + 1);
  CHECK(world.fetch(true).aborted == 1);
}

TEST_CASE("batches that come while their partition is being added to the transaction keep their order") {
  World world;
  const Producer p = world.init("o");
  for (const std::int32_t partition : {0, 1}) {
    std::vector<test::Served::Asked> asked;
    for (std::int32_t sequence = 0; sequence < 5; ++sequence) {
      asked.push_back(world.served.begin(
          World::produce_frame("o", p, sequence, 12, partition, true, world.served.clock().now_ms()).view()));
    }
    for (std::int64_t offset = 0; offset < 5; ++offset) {
      const auto row =
          World::row_of(world.served.finish(std::move(asked[static_cast<std::size_t>(offset)])), 12);
      CHECK(row.error_code == kNone);
      CHECK(row.base_offset == offset);
    }
  }
  CHECK(world.end("o", p, true, 5).error_code == kNone);
}

TEST_CASE("a batch of a json log that is sent again is answered with its offset") {
  World world;
  world.served.restart_with([](net::ServerOptions& options) { options.topic_format = TopicFormat::json; });
  DeleteTopicsRequest remove;
  remove.topic_names = {"t"};
  world.served.ask<DeleteTopicsResponse>(remove, 3);
  world.served.create_topic("t", 1);
  const Producer p{9, 0};
  const auto send = [&](std::int32_t sequence) {
    return World::row_of(
        world.served.ask(
            World::produce_frame("", p, sequence, 9, 0, false, world.served.clock().now_ms()).view()),
        9);
  };
  for (std::int32_t i = 0; i < 7; ++i) CHECK(send(i).base_offset == i);
  for (std::int32_t i = 2; i < 7; ++i) {
    CHECK(send(i).error_code == kNone);
    CHECK(send(i).base_offset == i);
  }
  // After a restart the borders are forgotten; the last one is still known, and the others are there once.
  world.served.restart();
  CHECK(send(6).base_offset == 6);
  CHECK(send(5).error_code == kNone);
  CHECK(send(7).base_offset == 7);
  CHECK(world.fetch(false).end == 8);
}

TEST_CASE("a new holder fences the old one and aborts what it had open") {
  World world;
  const Producer old = world.init("c");
  CHECK(world.produce("c", old, 0, 12) == kNone);
  const Producer now = world.init("c");
  CHECK(now.id == old.id);
  CHECK(now.epoch > old.epoch);
  CHECK(world.fetch(true).aborted == 1);
  CHECK(world.produce("c", old, 1, 12) == kInvalidProducerEpoch);
  CHECK(world.add("c", old, {0}) == kProducerFenced);
  CHECK(world.add("c", old, {0}, 1) == kInvalidProducerEpoch);
  CHECK(world.end("c", old, true).error_code == kProducerFenced);
  CHECK(world.end("c", old, true, 1).error_code == kInvalidProducerEpoch);
  CHECK(world.init("c", kProducerFenced, Producer{old.id + 5, 0}).id == -1);
  CHECK(world.produce("c", now, 0, 12) == kNone);
  CHECK(world.end("c", now, true, 5).error_code == kNone);
}

TEST_CASE("what cannot be a transaction") {
  World world;
  InitProducerIdRequest request;
  request.transactional_id = "";
  request.transaction_timeout_ms = 1000;
  CHECK(world.served.ask<InitProducerIdResponse>(request, 4).error_code == kInvalidRequest);
  request.transactional_id = "x";
  request.transaction_timeout_ms = 0;
  CHECK(world.served.ask<InitProducerIdResponse>(request, 4).error_code == kInvalidTransactionTimeout);
  request.transaction_timeout_ms = 900001;
  CHECK(world.served.ask<InitProducerIdResponse>(request, 4).error_code == kInvalidTransactionTimeout);
  CHECK(world.end("nobody", {1, 0}, true).error_code == kInvalidProducerIdMapping);
  CHECK(world.produce("", {1, 0}, 0, 9) == kTransactionalIdAuthorizationFailed);
  DescribeTransactionsRequest describe;
  describe.transactional_ids = {"nobody"};
  CHECK(world.served.ask<DescribeTransactionsResponse>(describe, 0).transaction_states.at(0).error_code ==
        kTransactionalIdNotFound);
}

TEST_CASE("offsets of a transaction count when it is committed, and an unstable one is said to be so") {
  World world;
  const Producer p = world.init("d");
  const auto commit = [&](std::int64_t offset) {
    TxnOffsetCommitRequest request;
    request.transactional_id = "d";
    request.group_id = "g";
    request.producer_id = p.id;
    request.producer_epoch = p.epoch;
    auto& topic = request.topics.emplace_back();
    topic.name = "t";
    auto& row = topic.partitions.emplace_back();
    row.partition_index = 0;
    row.committed_offset = offset;
    return world.served.ask<TxnOffsetCommitResponse>(request, 3).topics.at(0).partitions.at(0).error_code;
  };
  const auto fetch = [&](bool stable) {
    OffsetFetchRequest request;
    request.group_id = "g";
    request.require_stable = stable;
    request.topics.emplace();
    request.topics->push_back({"t", {0}});
    const auto answer = world.served.ask<OffsetFetchResponse>(request, 7);
    const auto& row = answer.topics.at(0).partitions.at(0);
    return std::pair(row.committed_offset, row.error_code);
  };
  CHECK(commit(5) == kInvalidTxnState);
  AddOffsetsToTxnRequest add;
  add.transactional_id = "d";
  add.producer_id = p.id;
  add.producer_epoch = p.epoch;
  add.group_id = "g";
  CHECK(world.served.ask<AddOffsetsToTxnResponse>(add, 3).error_code == kNone);
  CHECK(commit(5) == kNone);
  CHECK(fetch(false) == std::pair(std::int64_t{-1}, kNone));
  CHECK(fetch(true).second == kUnstableOffsetCommit);
  CHECK(world.end("d", p, true).error_code == kNone);
  CHECK(fetch(true) == std::pair(std::int64_t{5}, kNone));
}

TEST_CASE("a transaction that lasts too long is aborted, and its holder fenced") {
  World world;
  const Producer p = world.init("e");
  CHECK(world.add("e", p, {0}) == kNone);
  CHECK(world.produce("e", p, 0) == kNone);
  DescribeTransactionsRequest describe;
  describe.transactional_ids = {"e"};
  CHECK(world.served.ask<DescribeTransactionsResponse>(describe, 0)
            .transaction_states.at(0)
            .transaction_state == "Ongoing");
  world.served.clock().set(world.served.clock().now_ms() + 10001);
  CHECK(world.add("e", p, {1}) == kProducerFenced);
  CHECK(world.produce("e", p, 1) == kInvalidProducerEpoch);
  CHECK(world.end("e", p, true).error_code == kProducerFenced);
  CHECK(world.served.ask<DescribeTransactionsResponse>(describe, 0)
            .transaction_states.at(0)
            .transaction_state == "CompleteAbort");
}

TEST_CASE("idempotent batches: duplicates, gaps, epochs") {
  World world;
  const Producer p{77, 0};
  CHECK(world.produce("", p, 5, 9, 0, false) == kNone);
  CHECK(world.produce("", p, 5, 9, 0, false) == kNone);
  CHECK(world.fetch(false).end == 1);
  CHECK(world.produce("", p, 7, 9, 0, false) == kOutOfOrderSequence);
  CHECK(world.produce("", p, 6, 9, 0, false) == kNone);
  CHECK(world.produce("", {77, 1}, 7, 9, 0, false) == kOutOfOrderSequence);
  CHECK(world.produce("", {77, 1}, 0, 9, 0, false) == kNone);
  CHECK(world.produce("", p, 7, 9, 0, false) == kInvalidProducerEpoch);
  world.served.restart();
  CHECK(world.produce("", {77, 1}, 0, 9, 0, false) == kNone);
  CHECK(world.fetch(false).end == 3);
}

}  // namespace
}  // namespace tk::kafka
