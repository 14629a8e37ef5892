// Retention while a topic is written.
#include "core/store/upkeep.h"

#include <doctest/doctest.h>

#include "core/format/checkpoint_file.h"
#include "core/io/memory_file_system.h"
#include "core/log/segment_names.h"
#include "core/store/store.h"
#include "tests/support/crash_world.h"
#include "tests/support/produced.h"

using namespace tk;
using namespace tk::test;

TEST_CASE("a writer's roll removes what the topic's retention lets go, and the epochs from before go too") {
  MemoryFileSystem fs;
  const FixedClock clock{vectors::kT};
  Store::Options options;
  options.lock_wait = 0;
  options.clock = &clock;
  Store store = Store::open_for_writing(fs, "/logs", options);
  NewTopic topic;
  topic.name = "t";
  topic.format = TopicFormat::kafka;
  topic.configs = {{"segment.bytes", "300"}, {"retention.bytes", "600"}, {"retention.ms", "-1"}};
  const TopicInfo& made = store.create_topic(topic);
  const auto log = store.open_for_append(made, PartitionId(0));
  log->begin();
  const ProducerFields nobody{ProducerId(-1), -1, -1, false};
  for (int i = 0; i < 12; ++i) append_produced(*log, TopicFormat::kafka, nobody, {std::string(100, 'v')});
  log->close();
  const LogView view = store.view(made.partitions[0]);
  CHECK(view.log_end == Offset(12));
  REQUIRE(view.log_start > Offset(0));
  CHECK(view.bytes() <= 600 + 300);
  const auto epochs =
      parse_leader_epoch_checkpoint(read_whole(fs, join_path(kPartition, kLeaderEpochFile))).entries;
  REQUIRE(epochs.size() == 1);
  // The epoch begins where the log does: what lies before it is gone.
  CHECK(epochs[0].start == view.log_start);
}
