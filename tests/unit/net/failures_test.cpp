// Disks that are full or fail, under a server (serve.md §1.3, §5 T8): what was answered is there, what was
// refused can be sent again, and memory and disk agree.
#include <doctest/doctest.h>

#include <atomic>

#include "core/format/batch.h"
#include "core/io/memory_file_system.h"
#include "core/net/kafka/errors.h"
#include "tests/support/served.h"

namespace tk::kafka {
namespace {

class World {
 public:
  World() {
    fs.on_call = [this](const DiskCall& call) {
      const bool mine = call.kind == kind && failing > 0 && call.path.find(part) != std::string::npos;
      if (mine) --failing;
      return mine ? DiskFate::fails : DiskFate::done;
    };
    served.emplace(fs);
    served->create_topic("t");
  }
  /// The next calls of a kind on paths with this in them fail.
  void fail(DiskCall::Kind what, std::string in, int times = 1) {
    kind = what;
    part = std::move(in);
    failing = times;
  }

  /// One record, as the n-th of an idempotent producer (or of none); the error code, and the base offset.
  std::pair<std::int16_t, std::int64_t> produce(std::int32_t sequence, std::size_t size = 10,
                                                std::int16_t acks = -1) {
    Buffer batch;
    BatchBuilder builder;
    Compressor compressor;
    builder.start();
    builder.add(batch, served->clock().now_ms(), {}, std::string(size, 'v'), {});
    BatchFields fields;
    if (sequence >= 0) {
      fields.producer_id = ProducerId(5);
      fields.producer_epoch = 0;
      fields.base_sequence = sequence;
    }
    builder.finish(fields, {}, compressor, batch);
    ProduceRequest request;
    request.acks = acks;
    request.timeout_ms = 5000;
    auto& topic = request.topic_data.emplace_back();
    topic.name = "t";
    auto& data = topic.partition_data.emplace_back();
    data.records.in = batch.view();
    const auto answer = served->ask<ProduceResponse>(std::move(request), 9);
    const auto& row = answer.responses.at(0).partition_responses.at(0);
    return {row.error_code, row.base_offset};
  }

  /// The end of the log as readers see it, and how many bytes they get.
  std::pair<std::int64_t, std::size_t> fetch() {
    FetchRequest request;
    request.max_wait_ms = 0;
    auto& topic = request.topics.emplace_back();
    topic.topic = "t";
    topic.partitions.emplace_back().partition_max_bytes = 1 << 20;
    const auto answer = served->ask<FetchResponse>(request, 11);
    const auto& row = answer.responses.at(0).partitions.at(0);
    CHECK(row.error_code == kNone);
    return {row.high_watermark, row.records.in ? row.records.in->size() : 0};
  }

  std::int16_t commit(std::int64_t offset) {
    OffsetCommitRequest request;
    request.group_id = "g";
    request.generation_id_or_member_epoch = -1;
    auto& topic = request.topics.emplace_back();
    topic.name = "t";
    topic.partitions.emplace_back().committed_offset = offset;
    return served->ask<OffsetCommitResponse>(request, 7).topics.at(0).partitions.at(0).error_code;
  }
  std::int64_t committed() {
    OffsetFetchRequest request;
    request.group_id = "g";
    request.topics.emplace();
    request.topics->push_back({"t", {0}});
    return served->ask<OffsetFetchResponse>(request, 7).topics.at(0).partitions.at(0).committed_offset;
  }

  MemoryFileSystem fs;
  DiskCall::Kind kind = DiskCall::Kind::sync;
  std::string part;
  std::atomic<int> failing{0};
  std::optional<test::Served> served;
};

TEST_CASE("a force that fails is never answered as done, and the batch can be sent again") {
  for (const bool restarts : {false, true}) {
    World world;
    CHECK(world.produce(0) == std::pair(kNone, std::int64_t{0}));
    world.fail(DiskCall::Kind::sync, ".log");
    CHECK(world.produce(1).first == kStorageError);
    CHECK(world.failing == 0);
    if (restarts) world.served->restart();
    // The same again: once in the log, at its place.
    CHECK(world.produce(1) == std::pair(kNone, std::int64_t{1}));
    CHECK(world.produce(2) == std::pair(kNone, std::int64_t{2}));
    const auto before = world.fetch();
    CHECK(before.first == 3);
    world.served->restart();
    CHECK(world.fetch() == before);
  }
}

TEST_CASE("all that waited for a force that fails is refused") {
  World world;
  CHECK(world.produce(-1).first == kNone);
  // (A force after it opens anew, which forces what is there.)
  world.fail(DiskCall::Kind::sync, ".log", 3);
  for (int i = 0; i < 3; ++i) CHECK(world.produce(-1).first == kStorageError);
  CHECK(world.produce(-1).first == kNone);
  const std::int64_t end = world.fetch().first;
  world.served->restart();
  CHECK(world.fetch().first == end);
}

TEST_CASE(
    "a full disk: what was half written is cut back, reading goes on, and so does writing when there is "
    "room") {
  World world;
  CHECK(world.produce(0, 100) == std::pair(kNone, std::int64_t{0}));
  const auto before = world.fetch();
  world.fs.capacity = 0;  // a write puts down what fits: nothing
  CHECK(world.produce(1, 3000).first == kStorageError);
  CHECK(world.fetch() == before);
  CHECK(world.commit(1) == kCoordinatorNotAvailable);
  CHECK(world.committed() == -1);
  world.fs.capacity = UINT64_MAX;
  CHECK(world.produce(1, 3000) == std::pair(kNone, std::int64_t{1}));
  CHECK(world.commit(1) == kNone);
  const auto after = world.fetch();
  CHECK(after.first == 2);
  world.served->restart();
  CHECK(world.fetch() == after);
  CHECK(world.committed() == 1);
}

TEST_CASE("a write that is torn is cut back") {
  World world;
  CHECK(world.produce(0) == std::pair(kNone, std::int64_t{0}));
  const auto before = world.fetch();
  bool torn = false;
  world.fs.on_call = [&](const DiskCall& call) {
    if (torn || call.kind != DiskCall::Kind::write || call.path.find(".log") == std::string::npos)
      return DiskFate::done;
    torn = true;
    return DiskFate::torn;
  };
  CHECK(world.produce(1, 500).first == kStorageError);
  CHECK(torn);
  CHECK(world.fetch() == before);
  CHECK(world.produce(1, 500) == std::pair(kNone, std::int64_t{1}));
  const auto after = world.fetch();
  world.served->restart();
  CHECK(world.fetch() == after);
}

TEST_CASE("news of a server's own append costs no look at the directory, though nobody reads") {
  World world;
  CHECK(world.produce(0).first == kNone);
  const auto partition = world.served->service().catalog()->find("t")->partition(0);
  std::atomic<int> listings{0};
  world.fs.on_call = [&](const DiskCall& call) {
    if (call.kind == DiskCall::Kind::list) ++listings;
    return DiskFate::done;
  };
  const auto notice = [&](bool listed) {
    std::promise<void> done;
    world.served->service().loop().post([&] {
      partition->noticed(listed);
      partition->queue().post([&] { done.set_value(); });
    });
    done.get_future().wait();
    return listings.exchange(0);
  };
  CHECK(notice(false) == 0);
  CHECK(notice(true) == 1);
  // What another writer appended is looked at.
  const std::string log = world.served->directory() + "/t-0/00000000000000000000.log";
  Buffer again;
  again.append(ByteView(as_bytes(read_whole(world.fs, log))));
  assign_base_offset(again.data(), Offset(1), LeaderEpoch(0));
  const auto file = world.fs.open(log, OpenMode::write);
  file->write_at(file->size(), again.view());
  notice(false);
  CHECK(world.fetch().first == 2);
}

TEST_CASE("a commit that cannot be saved is undone in memory, too") {
  for (const auto kind : {DiskCall::Kind::sync, DiskCall::Kind::rename, DiskCall::Kind::write}) {
    World world;
    CHECK(world.produce(-1).first == kNone);
    CHECK(world.commit(7) == kNone);
    world.fail(kind, "group-g");
    CHECK(world.commit(9) == kCoordinatorNotAvailable);
    CHECK(world.failing == 0);
    CHECK(world.committed() == 7);
    world.served->restart();
    CHECK(world.committed() == 7);
    CHECK(world.commit(9) == kNone);
    CHECK(world.committed() == 9);
  }
}

}  // namespace
}  // namespace tk::kafka
