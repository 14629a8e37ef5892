// The promises of a partition log on a disk that fails at every single call: what was reported durable is
// there with its bytes, offsets are dense, and the next writer goes on without a manual step.
//
// TK_CRASH_SEEDS (default 2, with the slow address sanitizer 1) is the number of random subsets of the
// unsynced blocks that each cut is tried with, TK_CRASH_FIRST_SEED (default 1) the first of them.
#include <doctest/doctest.h>

#include <optional>

#include "tests/support/crash_world.h"

using namespace tk;
using namespace tk::test;

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Setting {
  TopicFormat format;
  SyncPolicy sync;
  bool names_follow_sync;
};

const Setting kSettings[] = {
    {TopicFormat::json, SyncPolicy::by_append, false},
    {TopicFormat::json, SyncPolicy::at_end, true},
    {TopicFormat::kafka, SyncPolicy::by_append, true},
    {TopicFormat::kafka, SyncPolicy::at_end, false},
};

/// Create, append, roll, give turns up, end, recover, change the epoch, go on.
void script(CrashWorld& world) {
  world.write_in_turns({3, 70, 8});
  world.write({90, 1, 60});
  world.recover();
  world.raise_epoch(1);
  world.write({120, 5});
}

/// What is left of the unsynced when the power goes.
struct Cut {
  UnsyncedFate fate;
  std::uint64_t seed = 0;
};

#ifdef __SANITIZE_ADDRESS__
constexpr std::uint64_t kSeeds = 1;
#else
constexpr std::uint64_t kSeeds = 2;
#endif

/// After a call that failed alone the extremes add little to what the cuts of the same calls show.
std::vector<Cut> cuts(DiskFate fate) {
  std::vector<Cut> cuts;
  if (fate == DiskFate::power_off) cuts = {{UnsyncedFate::all_lost}, {UnsyncedFate::all_kept}};
  const std::uint64_t first = from_environment("TK_CRASH_FIRST_SEED", 1);
  const std::uint64_t seeds = from_environment("TK_CRASH_SEEDS", kSeeds);
  for (std::uint64_t i = 0; i < (fate == DiskFate::power_off ? seeds : (seeds + 1) / 2); ++i)
    cuts.push_back({UnsyncedFate::random_blocks, first + i});
  return cuts;
}

enum class Met { nothing, other_kind, met };

/// Runs `work` with call `number` meeting `fate`, then cuts the power. Only a write is torn in another way
/// than it fails.
template <class Work>
Met fail_at(CrashWorld& world, std::uint64_t number, DiskFate fate, const Cut& cut, Work work) {
  Met met = Met::nothing;
  const std::uint64_t before = world.fs.calls();
  world.fs.on_call = [&](const DiskCall& call) {
    if (call.number != before + number) return DiskFate::done;
    const bool another = fate != DiskFate::torn || call.kind == DiskCall::Kind::write;
    met = another ? Met::met : Met::other_kind;
    return another ? fate : DiskFate::power_off;
  };
  try {
    work();
  } catch (const Error&) {
  }
  world.fs.on_call = nullptr;
  world.fs.power_off(cut.fate, number * 1000 + cut.seed);
  world.fs.power_on();
  return met;
}

std::string describe(const Setting& setting, std::uint64_t number, DiskFate fate, const Cut& cut) {
  return std::string(topic_format_name(setting.format)) +
         (setting.sync == SyncPolicy::at_end ? " at_end" : " by_append") +
         (setting.names_follow_sync ? " names_follow_sync" : "") + " call " + std::to_string(number) +
         " fate " + std::to_string(static_cast<int>(fate)) + " cut " +
         std::to_string(static_cast<int>(cut.fate)) + " seed " + std::to_string(cut.seed);
}

}  // namespace

/// A log of some segments whose second one has a flipped bit, and a torn tail: what recover has work with.
void break_log(CrashWorld& world) {
  world.write({90, 100, 150});
  const PartitionFiles files = list_partition(world.fs, kPartition);
  REQUIRE(files.segments.size() >= 3);
  world.fs.flip_bit(files.segments[1].log_path, files.segments[1].size / 2, 3);
  const auto last = world.fs.open(files.segments.back().log_path, OpenMode::write);
  const auto log_end = last->size();
  std::vector<std::uint8_t> head(30);
  last->read_at(0, {head.data(), head.size()});
  last->write_at(log_end, {head.data(), head.size()});
  last->sync();
  world.fs.sync_directory(kPartition);
  world.expect(0);
}

/// What a recovery leaves: every whole unit, whatever stands between them.
std::map<std::int64_t, Bytes> all_units(FileSystem& fs) {
  std::map<std::int64_t, Bytes> units;
  for (const SegmentFile& segment : list_partition(fs, kPartition).segments) {
    const ScanRange range{.position = 0,
                          .end = segment.size,
                          .segment_base = segment.base,
                          .after = segment.base - 1,
                          .below = {}};
    scan_to_end(fs, segment, range, [&](ByteView unit, UnitKind, std::uint64_t) {
      units[load_be<std::int64_t>(unit.data())] = Bytes(unit.begin(), unit.end());
    });
  }
  return units;
}

TEST_CASE("a recovery that fails at any call is finished by the next one, and loses nothing more") {
  std::uint64_t runs = 0;
  for (const TopicFormat format : {TopicFormat::json, TopicFormat::kafka}) {
    for (const RecoveryMode mode : {RecoveryMode::salvage, RecoveryMode::truncate}) {
      CrashWorld undisturbed(format, SyncPolicy::at_end);
      break_log(undisturbed);
      REQUIRE(undisturbed.recover(mode, true).whole_afterwards());
      const auto expected = all_units(undisturbed.fs);
      for (const DiskFate fate : {DiskFate::power_off, DiskFate::fails, DiskFate::torn}) {
        for (const Cut& cut : cuts(fate)) {
          for (std::uint64_t number = 0;; ++number) {
            CrashWorld world(format, SyncPolicy::at_end);
            break_log(world);
            const Met met = fail_at(world, number, fate, cut, [&] { world.recover(mode, true); });
            if (met == Met::nothing) break;
            if (met == Met::other_kind) continue;
            ++runs;
            const std::string where = describe({format, SyncPolicy::at_end, false}, number, fate, cut) +
                                      " mode " + std::to_string(static_cast<int>(mode));
            if (!world.recover(mode, true).whole_afterwards()) FAIL_CHECK(where << ": damage remains");
            if (all_units(world.fs) != expected) FAIL_CHECK(where << ": another log than without the fault");
            if (const std::string said = verify_says(world.fs); !said.empty())
              FAIL_CHECK(where << ": " << said);
            if (world.recover(mode, true).changes_anything())
              FAIL_CHECK(where << ": a third recover has work");
          }
        }
      }
    }
  }
  CHECK(runs > 100);
}

TEST_CASE("a disk that fails at any call keeps what was promised") {
  std::uint64_t runs = 0;
  for (const Setting& setting : kSettings) {
    for (const DiskFate fate : {DiskFate::power_off, DiskFate::fails, DiskFate::torn}) {
      for (const Cut& cut : cuts(fate)) {
        for (std::uint64_t number = 0;; ++number) {
          CrashWorld world(setting.format, setting.sync);
          world.fs.names_follow_sync = setting.names_follow_sync;
          const Met met = fail_at(world, number, fate, cut, [&] { script(world); });
          if (met == Met::nothing) break;
          if (met == Met::other_kind) continue;
          ++runs;
          const std::string broken = world.reopen(number % 2 == 0);
          if (!broken.empty()) FAIL_CHECK(describe(setting, number, fate, cut) << ": " << broken);
        }
      }
    }
  }
  CHECK(runs > 1000);
}
