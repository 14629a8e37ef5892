// The metadata log of three controllers: snapshots, voters that come back, kills in the middle of a change.
#include "core/cluster/metadata_log.h"

#include <doctest/doctest.h>

#include "core/base/error.h"
#include "core/cluster/cluster.h"
#include "core/cluster/metadata_snapshot.h"
#include "core/io/memory_file_system.h"

using namespace tk;

namespace {

struct Fixture {
  explicit Fixture(std::int32_t controllers) {
    settings.controllers = controllers;
    cluster().make({});
    cluster().create_topic({"t", 2, 3, TopicFormat::json, {{"segment.bytes", "12345"}}});
  }
  Cluster& cluster() {
    if (!made) {
      Cluster::Options options;
      options.sync = SyncPolicy::never;
      options.waits_for_controllers = true;
      made = std::make_unique<Cluster>(disk, "/c", settings, options);
    }
    return *made;
  }
  /// The next command: everything from the files.
  Cluster& again(Cluster::LoadFor what = Cluster::LoadFor::changing) {
    made.reset();
    cluster().load(what);
    return cluster();
  }
  /// Changes of the state, each two records.
  void change(int times) {
    for (int i = 0; i < times; ++i) {
      cluster().fence(3);
      cluster().unfence(3);
    }
  }
  std::vector<std::string> files(std::int32_t voter) {
    std::vector<std::string> names;
    for (const DirEntry& entry : disk.list(made->quorum().voter(voter).directory()))
      names.push_back(entry.name);
    return names;
  }
  MemoryFileSystem disk;
  ClusterSettings settings;
  std::unique_ptr<Cluster> made;
};

}  // namespace

TEST_SUITE("cluster.metadata_log") {
  TEST_CASE("a long log begins at a snapshot that says what the log said") {
    for (const std::int32_t controllers : {1, 3}) {
      Fixture f(controllers);
      f.cluster().metadata_log().longest = 20000;
      f.change(300);
      const MetadataImage before = f.cluster().image();
      const Offset end = f.cluster().metadata_log().end();
      f.cluster().save();
      for (std::int32_t id = 1; id <= controllers; ++id) {
        const auto snapshot = newest_snapshot(f.disk, f.made->quorum().voter(id).directory());
        REQUIRE(snapshot);
        CHECK(snapshot->end == end);
        std::uint64_t bytes = 0;
        for (const auto& segment : list_partition(f.disk, f.made->quorum().voter(id).directory()).segments)
          bytes += segment.size;
        CHECK(bytes == 0);
      }
      Cluster& loaded = f.again();
      CHECK(loaded.image() == before);
      CHECK(loaded.metadata_log().end() == end);
      // It goes on behind the snapshot, and elections go by its epoch.
      f.change(1);
      CHECK(f.cluster().metadata_log().end() > end);
      f.cluster().save();
      const MetadataImage after = f.cluster().image();
      CHECK(f.again().image() == after);
      f.cluster().kill_controller(1);
      f.cluster().start_controller(1);
      f.change(1);
      CHECK(f.cluster().quorum().leader()->epoch() == LeaderEpoch(2));
    }
  }

  TEST_CASE("a controller that missed more than the log holds gets the snapshot") {
    Fixture f(3);
    f.cluster().kill_controller(3);
    f.cluster().metadata_log().longest = 20000;
    f.change(300);
    f.cluster().save();
    Cluster& cluster = f.again();
    CHECK(cluster.quorum().leader()->log().start() > Offset(100));
    cluster.start_controller(3);
    CHECK(cluster.quorum().voter(3).log().start() == cluster.quorum().leader()->log().start());
    f.change(1);
    const MetadataImage before = cluster.image();
    const Offset end = cluster.metadata_log().end();
    CHECK(cluster.quorum().voter(3).log().end() == end);
    cluster.save();
    // It can lead, alone with one other.
    Cluster& next = f.again();
    next.kill_controller(1);
    next.kill_controller(2);
    CHECK_THROWS_AS(next.fence(2), Error);
    next.start_controller(1);
    next.tick(5000);
    next.tick(5000);
    REQUIRE(next.quorum().leader() != nullptr);
    CHECK(next.image() == before);
    MetadataImage replayed;
    next.metadata_log().replay(replayed);
    CHECK(replayed == before);
  }

  TEST_CASE("a snapshot without its footer is refused with file and position") {
    Fixture f(1);
    f.cluster().metadata_log().longest = 0;
    f.cluster().save();
    const std::string directory = f.made->quorum().voter(1).directory();
    const std::string path = join_path(directory, snapshot_name(*newest_snapshot(f.disk, directory)));
    const std::string whole = read_whole(f.disk, path);
    for (const std::size_t cut : {std::size_t{0}, std::size_t{100}, whole.size() - 1, whole.size() - 76}) {
      const auto file = f.disk.open(path, OpenMode::write);
      file->truncate(0);
      file->write_at(0, as_bytes(std::string_view(whole).substr(0, cut)));
      try {
        f.again();
        FAIL_CHECK("taken at " << cut);
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::corrupt_state);
        CHECK(error.path() == path);
      }
    }
  }

  TEST_CASE(
      "a change that died on its way to the others is finished by the next command that changes anything") {
    Fixture f(3);
    f.cluster().save();
    f.again();
    const Offset end = f.cluster().metadata_log().end();
    // The leader has it, and then the process dies.
    QuorumVoter& leading = *f.cluster().quorum().leader();
    BatchBuilder builder;
    Compressor compressor;
    Buffer batch, value;
    const MetadataRecord record = config_record("t", "retention.ms", "5");
    REQUIRE(!encode_metadata_record(record.name, record.version, record.value, value));
    builder.start(0);
    builder.add(batch, 0, std::nullopt, as_text(value.view()), {});
    BatchFields fields;
    fields.base_offset = end;
    fields.leader_epoch = leading.epoch();
    const UnitInfo info = builder.finish(fields, {}, compressor, batch);
    leading.append_batch(info, batch.view());
    f.again(Cluster::LoadFor::looking);
    CHECK(!f.cluster().image().topic("t")->configs.contains("retention.ms"));
    f.again();
    CHECK(f.cluster().image().topic("t")->configs.contains("retention.ms"));
    CHECK(f.cluster().quorum().committed() == end + 1);
  }
}
