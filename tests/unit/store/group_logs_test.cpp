// A store's topics as groups see them.
#include "core/store/group_logs.h"

#include <doctest/doctest.h>

#include "core/io/memory_file_system.h"
#include "tests/unit/store/store_files.h"

using namespace tk;
using tk::test::put;

TEST_CASE("group logs: counts, ids, edges, epochs and times") {
  MemoryFileSystem fs;
  put(fs, "/d/tk-topics.json",
      R"({"format":1,"topics":{"t":{"id":"Zk3TgNzYQ1qwQXZ0yVnZ0g","partitions":3,"format":"kafka","configs":{}}}})");
  put(fs, "/d/t-0/" + test::kSegment, test::batch_a() + test::batch_b() + test::batch_c());
  put(fs, "/d/t-0/leader-epoch-checkpoint", "0\n2\n0 0\n3 2\n");
  put(fs, "/d/t-1/leader-epoch-checkpoint", "not a checkpoint");
  put(fs, "/d/log-start-offset-checkpoint", "0\n1\nt 0 1\n");
  const Store store = Store::open(fs, "/d", {});
  GroupLogs logs(store);
  const TopicPartition t0{"t", PartitionId(0)}, t1{"t", PartitionId(1)}, t3{"t", PartitionId(3)};

  CHECK(logs.partition_count("t") == 3);
  CHECK_FALSE(logs.partition_count("u"));
  CHECK(logs.topic_id("t")->text() == "Zk3TgNzYQ1qwQXZ0yVnZ0g");
  CHECK_FALSE(logs.topic_id("u"));
  CHECK(logs.edges(t0) == LogEdges{Offset(1), Offset(3), Offset(3)});
  CHECK(logs.edges(t1) == LogEdges{Offset(0), Offset(0), Offset(0)});  // its directory may not even be there
  CHECK_FALSE(logs.edges(t3));
  CHECK(logs.last_stable(t0) == Offset(3));
  CHECK(logs.leader_epochs(t0).epoch_at(Offset(2)) == LeaderEpoch(3));
  CHECK(logs.leader_epochs(t1).empty());
  CHECK(logs.leader_epochs(t3).empty());
  CHECK(logs.offset_for_time(t0, test::kT) == Offset(1));  // at or above the log's start
  CHECK(logs.offset_for_time(t0, test::kT + 2) == Offset(2));
  CHECK_FALSE(logs.offset_for_time(t0, test::kT + 3));

  // A partition that was added since is seen after a new look.
  put(fs, "/d/u-0/" + test::kSegment, test::batch_a());
  CHECK_FALSE(logs.partition_count("u"));
  logs.refresh();
  CHECK(logs.partition_count("u") == 1);
  logs.refresh();
  CHECK(logs.edges({"u", PartitionId(0)})->log_end == Offset(1));
}
