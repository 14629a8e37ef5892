#include <doctest/doctest.h>

#include "core/format/leader_epochs.h"

using namespace tk;

namespace {

LeaderEpochEntry entry(std::int32_t epoch, std::int64_t start) {
  return {LeaderEpoch(epoch), Offset(start)};
}

using Entries = std::vector<LeaderEpochEntry>;

LeaderEpochs history(const Entries& entries) {
  return LeaderEpochs(entries);
}

LeaderEpochs::End end(std::int32_t epoch, std::int64_t offset) {
  return {LeaderEpoch(epoch), Offset(offset)};
}

}  // namespace

TEST_SUITE("format.leader_epochs") {
  TEST_CASE("an assignment of what is known already changes nothing") {
    LeaderEpochs epochs = history({entry(0, 0), entry(2, 10)});
    CHECK_FALSE(epochs.assign(LeaderEpoch(2), Offset(10)));
    CHECK_FALSE(epochs.assign(LeaderEpoch(2), Offset(500)));
    CHECK(epochs.entries() == Entries{entry(0, 0), entry(2, 10)});
    CHECK(epochs.assign(LeaderEpoch(3), Offset(500)));
    CHECK(epochs.entries() == Entries{entry(0, 0), entry(2, 10), entry(3, 500)});
    CHECK(epochs.latest() == LeaderEpoch(3));
  }

  TEST_CASE("an assignment pushes out what does not lie below it") {
    LeaderEpochs lower_start = history({entry(0, 0), entry(2, 10), entry(4, 20)});
    CHECK(lower_start.assign(LeaderEpoch(5), Offset(10)));
    CHECK(lower_start.entries() == Entries{entry(0, 0), entry(5, 10)});

    LeaderEpochs lower_epoch = history({entry(0, 0), entry(2, 10), entry(4, 20)});
    CHECK(lower_epoch.assign(LeaderEpoch(2), Offset(30)));
    CHECK(lower_epoch.entries() == Entries{entry(0, 0), entry(2, 30)});

    LeaderEpochs same_epoch_earlier = history({entry(1, 5)});
    CHECK(same_epoch_earlier.assign(LeaderEpoch(1), Offset(3)));
    CHECK(same_epoch_earlier.entries() == Entries{entry(1, 3)});

    LeaderEpochs all = history({entry(3, 5), entry(4, 6)});
    CHECK(all.assign(LeaderEpoch(0), Offset(0)));
    CHECK(all.entries() == Entries{entry(0, 0)});
  }

  TEST_CASE("epoch 0 is an epoch, a negative one is none") {
    LeaderEpochs epochs;
    CHECK_FALSE(epochs.assign(kNoLeaderEpoch, Offset(0)));
    CHECK(epochs.empty());
    CHECK_FALSE(epochs.latest());
    CHECK(epochs.assign(LeaderEpoch(0), Offset(0)));
    CHECK_FALSE(epochs.assign(kNoLeaderEpoch, Offset(7)));
    CHECK(epochs.entries() == Entries{entry(0, 0)});
    CHECK(epochs.end_offset_for(LeaderEpoch(0), Offset(9)) == end(0, 9));
  }

  TEST_CASE("entries of a file that do not rise are pushed out by the later ones") {
    CHECK(history({entry(1, 10), entry(0, 20), entry(2, 20), entry(3, 30)}).entries() ==
          Entries{entry(2, 20), entry(3, 30)});
  }

  TEST_CASE("truncation from the end drops what begins at the new end") {
    LeaderEpochs epochs = history({entry(0, 0), entry(1, 10), entry(2, 20)});
    CHECK_FALSE(epochs.truncate_from_end(Offset(21)));
    CHECK(epochs.truncate_from_end(Offset(20)));
    CHECK(epochs.entries() == Entries{entry(0, 0), entry(1, 10)});
    CHECK(epochs.truncate_from_end(Offset(5)));
    CHECK(epochs.entries() == Entries{entry(0, 0)});
    CHECK(epochs.truncate_from_end(Offset(0)));
    CHECK(epochs.empty());
    CHECK_FALSE(epochs.truncate_from_end(Offset(0)));
  }

  TEST_CASE("truncation from the start moves the current epoch's start") {
    const Entries before = {entry(0, 5), entry(1, 10), entry(2, 20)};
    LeaderEpochs epochs = history(before);
    CHECK_FALSE(epochs.truncate_from_start(Offset(4)));
    CHECK_FALSE(epochs.truncate_from_start(Offset(5)));
    CHECK(epochs.entries() == before);
    CHECK(epochs.truncate_from_start(Offset(7)));
    CHECK(epochs.entries() == Entries{entry(0, 7), entry(1, 10), entry(2, 20)});
    CHECK(epochs.truncate_from_start(Offset(10)));
    CHECK(epochs.entries() == Entries{entry(1, 10), entry(2, 20)});
    CHECK(epochs.truncate_from_start(Offset(1000)));
    CHECK(epochs.entries() == Entries{entry(2, 1000)});
    LeaderEpochs none;
    CHECK_FALSE(none.truncate_from_start(Offset(3)));
  }

  TEST_CASE("the epoch at an offset") {
    const LeaderEpochs epochs = history({entry(1, 5), entry(3, 10)});
    CHECK_FALSE(epochs.epoch_at(Offset(4)));
    CHECK(epochs.epoch_at(Offset(5)) == LeaderEpoch(1));
    CHECK(epochs.epoch_at(Offset(9)) == LeaderEpoch(1));
    CHECK(epochs.epoch_at(Offset(10)) == LeaderEpoch(3));
    CHECK(epochs.epoch_at(Offset(1000)) == LeaderEpoch(3));
    CHECK_FALSE(history({}).epoch_at(Offset(0)));
  }

  TEST_CASE("where an epoch ended") {
    const LeaderEpochs epochs = history({entry(2, 5), entry(4, 20), entry(7, 50)});
    const Offset log_end(60);
    CHECK(epochs.end_offset_for(LeaderEpoch(7), log_end) == end(7, 60));
    CHECK(epochs.end_offset_for(LeaderEpoch(8), log_end) == end(-1, -1));
    CHECK(epochs.end_offset_for(kNoLeaderEpoch, log_end) == end(-1, -1));
    CHECK(epochs.end_offset_for(LeaderEpoch(0), log_end) == end(0, 5));
    CHECK(epochs.end_offset_for(LeaderEpoch(2), log_end) == end(2, 20));
    CHECK(epochs.end_offset_for(LeaderEpoch(3), log_end) == end(2, 20));
    CHECK(epochs.end_offset_for(LeaderEpoch(4), log_end) == end(4, 50));
    CHECK(epochs.end_offset_for(LeaderEpoch(6), log_end) == end(4, 50));
    CHECK(LeaderEpochs().end_offset_for(LeaderEpoch(0), log_end) == end(-1, -1));
  }
}
