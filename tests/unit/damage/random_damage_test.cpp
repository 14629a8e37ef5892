// Random damage to partitions of every format: nothing crashes or hangs, nothing false is called good, and
// recovery never costs a readable record.
//
// TK_DAMAGE_ROUNDS and TK_DAMAGE_SEED set how many rounds run and where they begin; a round that fails names
// the seed that repeats it alone. With TK_DAMAGE_KEEP a round leaves its damaged partition in that directory.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cstdlib>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/log/partition_log.h"
#include "core/log/recovery.h"
#include "core/log/segment_names.h"
#include "core/log/verify.h"
#include "tests/support/last_words.h"
#include "tests/support/mutation.h"
#include "tests/unit/damage/partition.h"

using namespace tk;
using namespace tk::test;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kRounds = 3000;
#else
constexpr std::uint64_t kRounds = 10000;
#endif
constexpr std::uint64_t kSeed = 20261129;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// A damaged copy of a partition, and how it came about.
struct Damaged {
  const Original* original = nullptr;
  PartitionBytes files;
  std::string story;
  bool log_touched = false;
  bool index_touched = false;

  /// tk made it, so its indexes may be taken at their word.
  [[nodiscard]] bool of_tk() const { return original->name.starts_with("tk/"); }
};

Damaged damage(Random& random) {
  Damaged made;
  made.original = &originals()[random.below(originals().size())];
  made.files = made.original->files;
  made.story = made.original->name;
  for (std::size_t left = 1 + random.below(4); left > 0; --left) {
    auto file = std::next(made.files.begin(), static_cast<std::ptrdiff_t>(random.below(made.files.size())));
    // Logs are hit most often, but every file is.
    for (int tries = 0; tries < 3 && !file->first.ends_with(kLogSuffix); ++tries) {
      file = std::next(made.files.begin(), static_cast<std::ptrdiff_t>(random.below(made.files.size())));
    }
    const bool is_log = file->first.ends_with(kLogSuffix);
    made.log_touched = made.log_touched || is_log;
    made.index_touched = made.index_touched || !is_log;
    if (random.below(25) == 0 && made.files.size() > 1) {
      made.story += "; " + file->first + " removed";
      made.files.erase(file);
      continue;
    }
    if (file->second.empty()) continue;
    const Mutated done = mutate(random, file->second);
    made.story += "; " + file->first + " " + std::string(mutation_name(done.kind)) + " " +
                  std::to_string(done.position) + "+" + std::to_string(done.size);
  }
  return made;
}

/// A disk with the damaged files that counts what is read of it.
class Disk {
 public:
  explicit Disk(const PartitionBytes& files) {
    put(fs, files);
    for (const auto& [name, bytes] : files) bytes_ += bytes.size();
    fs.on_call = [this](const DiskCall& call) {
      if (call.kind == DiskCall::Kind::read) ++reads_;
      return DiskFate::done;
    };
  }
  /// Work grows with the data, not with what hostile numbers in them say.
  void check_work() const {
    CHECK_MESSAGE(reads_ < 2000 + bytes_, "reads: ", reads_, " of ", bytes_, " bytes");
  }

  MemoryFileSystem fs;

 private:
  std::uint64_t bytes_ = 0;
  std::uint64_t reads_ = 0;
};

/// Records that lie where no original record did: the base offset of a unit of Kafka's is not covered by its
/// checksum, and damage all around may leave nothing that contradicts it. What is around a unit decides then
/// whether it is read, so such rounds do not tell about the rest.
bool has_moved(const Damaged& damaged, const ReadBack& read) {
  return std::any_of(read.records.begin(), read.records.end(), [&](const Placed& placed) {
    return !damaged.original->records.contains(placed.record);
  });
}

/// Every record is one of the original: at its own place, or with all that the checksum covers. A json record
/// that has lost its checksum's member is one without protection, as verify says of it.
void check_true(const Damaged& damaged, const ReadBack& read, const std::string& when) {
  const bool may_move = damaged.log_touched && !damaged.original->is_json;
  std::optional<std::int64_t> last;
  for (const Placed& placed : read.records) {
    const Record& record = placed.record;
    if (!damaged.original->records.contains(record)) {
      if (placed.unprotected) continue;
      if (may_move && damaged.original->within.contains(placed.within)) continue;
      FAIL_CHECK(when, ": the record at offset ", record.offset, " is not one of the original: key ",
                 printable(record.key.value_or("null")), ", value ",
                 printable(record.value.value_or("null")));
      return;
    }
    if (last && record.offset <= *last) {
      FAIL_CHECK(when, ": offset ", record.offset, " follows ", *last);
      return;
    }
    last = record.offset;
  }
}

/// In a partition of tk's an index tells what was forced to disk. Where it is lost, a hole of zeros passes
/// for what a power cut left of an append, and with it goes what was never promised to be kept.
bool may_pass_for_power_cut(const Damaged& damaged, bool trust_index) {
  return trust_index && damaged.index_touched;
}

/// Every original record that could be read before can be read after.
void check_kept(const Damaged& damaged, const ReadBack& before, const ReadBack& after,
                const std::string& when) {
  const std::vector<Record> kept = after.plain();
  const std::set<Record> there(kept.begin(), kept.end());
  for (const Placed& placed : before.records) {
    if (there.contains(placed.record) || !damaged.original->records.contains(placed.record)) continue;
    FAIL_CHECK(when, ": the record at offset ", placed.record.offset, " was readable and is lost");
    return;
  }
}

VerifyTotals verified(FileSystem& fs) {
  PartitionVerifier verifier(
      fs, [](const Problem& problem) { CHECK_FALSE(problem.message.empty()); }, [] { return false; });
  verifier.verify(kPartition, {});
  return verifier.totals();
}

void check_verify(Disk& disk, const ReadBack& read) {
  const VerifyTotals totals = verified(disk.fs);
  if (!read.damage.empty()) CHECK_MESSAGE(totals.damage > 0, "a reader met damage that verify does not name");
  if (totals.damage == 0) CHECK(totals.records >= read.records.size());
  const auto unprotected = std::count_if(read.records.begin(), read.records.end(),
                                         [](const Placed& placed) { return placed.unprotected; });
  CHECK(totals.unprotected >= static_cast<std::uint64_t>(unprotected));
}

/// Reading from the middle on gives the end of what reading from the start gives: an index is never believed
/// against the log. (In a log whose units changed places an index may be right and the order is wrong.)
void check_middle(Random& random, const Damaged& damaged, Disk& disk, const ReadBack& read) {
  if (read.records.empty() || damaged.log_touched) return;
  const std::size_t at = random.below(read.records.size());
  const std::vector<Record> all = read.plain();
  const std::vector<Record> rest(all.begin() + static_cast<std::ptrdiff_t>(at), all.end());
  const ReadBack middle = read_back(disk.fs, Offset(all[at].offset), 512);
  CHECK_MESSAGE(middle.plain() == rest, "reading from offset ", all[at].offset, " gives other records");
}

void check_recovery(Random& random, const Damaged& damaged, const ReadBack& before) {
  Disk disk(damaged.files);
  RecoveryOptions options;
  options.mode = static_cast<RecoveryMode>(random.below(3));
  options.full = random.below(2) == 0;
  // Only of a log that tk made its indexes tell what was forced to disk.
  options.trust_index = damaged.of_tk() && random.below(2) == 0;
  const char* const names[] = {"plain recovery", "recovery --truncate", "recovery --salvage"};
  const std::string when = names[static_cast<std::size_t>(options.mode)];
  apply_recovery(disk.fs, plan_recovery(disk.fs, kPartition, options));
  const ReadBack after = read_back(disk.fs);
  check_true(damaged, after, when);
  const bool refuses = options.mode == RecoveryMode::refuse;
  if (options.mode == RecoveryMode::salvage ||
      (refuses && !may_pass_for_power_cut(damaged, options.trust_index))) {
    check_kept(damaged, before, after, when);
  }
  if (options.mode == RecoveryMode::salvage && options.full && !has_moved(damaged, before)) {
    CHECK_MESSAGE(after.damage.empty(), "damage is left by --salvage --full");
  }
  // It is finished in one go; what lies below a trusted index entry is not looked at.
  if (has_moved(damaged, before) || (options.trust_index && !options.full)) return;
  const RecoveryPlan again = plan_recovery(disk.fs, kPartition, options);
  for (const SegmentRecovery& segment : again.segments) {
    CHECK_MESSAGE((segment.cut_bytes == 0 && !segment.remove), when, options.full ? " --full" : "",
                  options.trust_index ? " with a trusted index" : "",
                  " would cut again: ", std::string(segment.reason.detail), " at byte ", segment.position,
                  " of ", segment.segment.log_path);
  }
  disk.check_work();
}

/// A writer opens the partition as after a crash: it refuses, or goes on behind everything readable.
void check_writer(const Damaged& damaged, const ReadBack& before) {
  Disk disk(damaged.files);
  PartitionLog::Options options;
  const bool trusted = options.trust_index = damaged.of_tk();
  PartitionLog log(disk.fs, kPartition, std::move(options));
  try {
    log.begin();
    const Offset end = log.log_end();
    log.close();
    const bool all_stay = !has_moved(damaged, before) && !may_pass_for_power_cut(damaged, trusted);
    if (!before.records.empty() && all_stay) CHECK(end.value() > before.records.back().record.offset);
  } catch (const Error& error) {
    CHECK_MESSAGE(error.code() == ErrorCode::corrupt_message, error.message());
  }
  const ReadBack after = read_back(disk.fs);
  check_true(damaged, after, "a writer's opening");
  if (!may_pass_for_power_cut(damaged, trusted)) check_kept(damaged, before, after, "a writer's opening");
}

void round_of(std::uint64_t seed) {
  const std::string repeat = "TK_DAMAGE_SEED=" + std::to_string(seed) + " TK_DAMAGE_ROUNDS=1";
  LastWords::are(repeat);
  Random random(seed);
  const Damaged damaged = damage(random);
  INFO(repeat << ": " << damaged.story);
  LastWords::are(repeat + ": " + damaged.story);
  if (const char* const keep = std::getenv("TK_DAMAGE_KEEP")) {
    for (const auto& [name, bytes] : damaged.files) {
      write_file(posix_file_system(), join_path(join_path(keep, "t-0"), name), bytes);
    }
  }
  try {
    Disk disk(damaged.files);
    const ReadBack read = read_back(disk.fs);
    check_true(damaged, read, "reading");
    check_verify(disk, read);
    check_middle(random, damaged, disk, read);
    disk.check_work();
    check_recovery(random, damaged, read);
    check_writer(damaged, read);
  } catch (const Error& error) {
    FAIL_CHECK("damage ended a command: ", error.message(), " at ", error.path());
  }
}

std::int64_t resident_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

}  // namespace

TEST_CASE("the undamaged partitions are good") {
  std::size_t records = 0;
  for (const Original& original : originals()) {
    CAPTURE(original.name);
    CHECK_FALSE(original.records.empty());
    records += original.records.size();
    MemoryFileSystem fs;
    put(fs, original.files);
    CHECK(read_back(fs).damage.empty());
    CHECK(verified(fs).damage == 0);
  }
  CHECK(originals().size() >= 25);
  CHECK(records >= 2000);
}

TEST_CASE("headers that lie under good checksums end nothing") {
  const std::uint64_t rounds = from_environment("TK_DAMAGE_ROUNDS", kRounds) / 4;
  const std::uint64_t first = from_environment("TK_DAMAGE_SEED", kSeed);
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    INFO("seed " << seed);
    LastWords::are("headers that lie, seed " + std::to_string(seed));
    Random random(seed);
    Damaged damaged;
    damaged.original = &originals()[random.below(originals().size())];
    damaged.files = damaged.original->files;
    for (auto& [name, bytes] : damaged.files) {
      if (name.ends_with(kLogSuffix) && random.below(2) == 0) mutate_header(random, bytes);
    }
    Disk disk(damaged.files);
    const ReadBack read = read_back(disk.fs);
    check_verify(disk, read);
    RecoveryOptions options;
    options.mode = static_cast<RecoveryMode>(random.below(3));
    options.full = true;
    apply_recovery(disk.fs, plan_recovery(disk.fs, kPartition, options));
    if (options.mode != RecoveryMode::truncate) check_kept(damaged, read, read_back(disk.fs), "recovery");
    disk.check_work();
  }
  LastWords::none();
}

TEST_CASE("random damage") {
  const std::uint64_t rounds = from_environment("TK_DAMAGE_ROUNDS", kRounds);
  const std::uint64_t first = from_environment("TK_DAMAGE_SEED", kSeed);
  (void)originals();
  for (std::uint64_t seed = first; seed < first + 50 && seed < first + rounds; ++seed) round_of(seed);
  const std::int64_t warm = resident_mib();
  for (std::uint64_t seed = first + 50; seed < first + rounds; ++seed) round_of(seed);
  LastWords::none();
  // Whatever a length field says, memory goes with the data. The sanitizer keeps freed blocks for a while.
  constexpr std::int64_t kQuarantine = 300;
  CHECK_MESSAGE(resident_mib() < warm + kQuarantine + 128, warm, " MiB grew to ", resident_mib());
}
