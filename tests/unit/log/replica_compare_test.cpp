// Replicas side by side: the follower's truncation (KIP-101, KIP-279) and the first difference.
#include "core/log/replica_compare.h"

#include <doctest/doctest.h>

#include "core/io/memory_file_system.h"
#include "tests/support/log_maker.h"

using namespace tk;
using namespace tk::test;

namespace {

Replica replica(std::initializer_list<std::pair<std::int32_t, std::int64_t>> epochs, std::int64_t end,
                std::optional<std::int64_t> hw = {}) {
  Replica made;
  for (const auto& [epoch, start] : epochs) made.epochs.assign(LeaderEpoch(epoch), Offset(start));
  made.view.log_end = Offset(end);
  if (hw) made.high_watermark = Offset(*hw);
  return made;
}

}  // namespace

TEST_CASE("replica compare: a follower is cut where its last common epoch ends") {
  // The follower has records 4 to 7 of epoch 0 that the leader of epoch 1, which began at 4, never saw.
  CHECK(truncation_offset(replica({{0, 0}}, 8), replica({{0, 0}, {1, 4}}, 6)) == Offset(4));
  // It is only behind.
  CHECK(truncation_offset(replica({{0, 0}}, 3), replica({{0, 0}, {1, 4}}, 6)) == Offset(3));
  // KIP-279: epochs that the leader does not know take several rounds.
  CHECK(truncation_offset(replica({{0, 0}, {1, 5}, {2, 8}}, 10), replica({{0, 0}, {3, 7}}, 12)) == Offset(5));
  // Of a newer epoch than the leader's: back to the high watermark.
  CHECK(truncation_offset(replica({{0, 0}, {5, 6}}, 9, 4), replica({{0, 0}, {1, 6}}, 9)) == Offset(4));
  // Without epochs only the ends count.
  CHECK(truncation_offset(replica({}, 9), replica({{0, 0}}, 7)) == Offset(7));
}

namespace {

struct Two {
  MemoryFileSystem fs;
  std::vector<Replica> replicas;

  Two(const Bytes& a, const Bytes& b) {
    write_segment(fs, "/a/t-0", 0, a);
    write_segment(fs, "/b/t-0", 0, b);
    for (const char* directory : {"/a/t-0", "/b/t-0"})
      replicas.push_back(open_replica(fs, directory, std::nullopt, std::nullopt));
  }
  ReplicaComparison compare() {
    return compare_replicas(fs, replicas, [] { return false; });
  }
};

const Bytes kA = from_hex(vectors::kA), kB = from_hex(vectors::kB), kC = from_hex(vectors::kC);

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

TEST_CASE("replica compare: equal, shorter, different, missing") {
  const Bytes whole = joined({kA, kB, kC});
  Two same(whole, whole);
  ReplicaComparison result = same.compare();
  CHECK(result.common_end == Offset(3));
  CHECK(!result.first_difference);
  Two shorter(whole, joined({kA, kB}));
  result = shorter.compare();
  CHECK(result.common_end == Offset(2));
  CHECK(!result.first_difference);
  CHECK(result.leader == 0);
  // A lacks what B has in its middle.
  Two missing(joined({kA, kC}), whole);
  result = missing.compare();
  CHECK(result.first_difference == Offset(1));
  CHECK(result.missing);
  CHECK(result.common_end == Offset(1));
  // The same offset, written by another leader: the header differs.
  Bytes other = whole;
  other[kA.size() + 15] ^= 1;
  Two different(whole, other);
  result = different.compare();
  CHECK(result.first_difference == Offset(1));
  CHECK(!result.missing);
}
