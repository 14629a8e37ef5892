// Transactions on a disk that fails at every single call: whoever comes next finds all of a transaction or
// nothing, in every partition and in the group alike, and needs no manual step.
//
// TK_CRASH_EVERY (default 9): each kind of failure meets every so-manieth call, another kind the next one; 1
// is all of them.
#include <doctest/doctest.h>

#include <cstdlib>

#include "core/base/error.h"
#include "core/io/memory_file_system.h"
#include "core/log/transactions.h"
#include "core/store/store_transactions.h"
#include "tests/support/crash_world.h"
#include "tests/support/produced.h"

using namespace tk;
using namespace tk::test;

namespace {

const std::string kLogs = "/logs";

/// How a partition shows the records of one transaction.
enum class Shown : std::uint8_t { nothing, committed, aborted, open, mixed };

class World {
 public:
  explicit World(TopicFormat format) : format_(format) {
    Store store = open();
    NewTopic topic;
    topic.name = "t";
    topic.partitions = 2;
    topic.format = format;
    topic.configs = {{"segment.bytes", "700"}, {"index.interval.bytes", "100"}};
    store.create_topic(topic);
    fs.power_off(UnsyncedFate::all_kept);
    fs.power_on();
  }

  MemoryFileSystem fs;
  FixedClock clock{vectors::kT};

  /// A transaction that is aborted by the begin of the next, and that one, committed with an offset.
  void script() {
    {
      Store store = open();
      StoreTransactions transactions(store, clock);
      write(store, transactions, transactions.coordinator().begin("A", 60000), {"x0", "x1", "x2"});
    }
    Store store = open();
    StoreTransactions transactions(store, clock);
    const TransactionEntry entry = transactions.coordinator().begin("A", 60000);
    second_epoch_ = entry.epoch;
    write(store, transactions, entry, {"y0", "y1"});
    TransactionOffsets offsets;
    offsets.group = "g";
    offsets.request.offsets.push_back({{"t", PartitionId(0)}, 1, {}, {}});
    transactions.coordinator().commit("A", entry.epoch, &offsets);
    committed_ = true;
  }

  /// What the next command does, and whether all is well then; empty if so.
  std::string settle() {
    try {
      Store store = open();
      StoreTransactions transactions(store, clock);
      transactions.coordinator().complete_due();
      auto file = read_producers_file(fs, kLogs);
      const bool open_still = file && file->transactions.contains("A") &&
                              file->transactions.at("A").state == TransactionState::ongoing;
      if (open_still) transactions.coordinator().abort("A", {});
      file = read_producers_file(fs, kLogs);
      if (file && file->has_due(vectors::kT)) return "something is left to do";
      return look(file ? *file : ProducersFile{});
    } catch (const Error& error) {
      return "refused: " + error.message() + " " + error.path();
    }
  }

 private:
  Store open() {
    Store::Options options;
    options.lock_wait = 0;
    return Store::open_for_writing(fs, kLogs, options);
  }

  void write(Store& store, StoreTransactions& transactions, const TransactionEntry& entry,
             const std::vector<std::string>& values) {
    transactions.coordinator().join("A", entry.epoch, {{"t", PartitionId(0)}, {"t", PartitionId(1)}});
    for (const int partition : {0, 1}) {
      const auto log = store.open_for_append(*store.find("t"), PartitionId(partition));
      log->begin();
      require_open_transaction(fs, kLogs, "A", entry.epoch);
      const std::int32_t next = next_of(*log, entry);
      append_produced(*log, format_, {entry.id, entry.epoch, next, true}, values);
      append_produced(*log, format_,
                      {entry.id, entry.epoch, next + static_cast<std::int32_t>(values.size()), true}, values);
      log->close();
    }
  }
  static std::int32_t next_of(PartitionLog& log, const TransactionEntry& entry) {
    const ProducerEntry* const known = log.producers().find(entry.id);
    if (known == nullptr || known->epoch != entry.epoch || known->last_batch() == nullptr) return 0;
    return known->last_batch()->last_sequence + 1;
  }

  /// How the records of values that begin with `first` are shown in a partition.
  Shown shown(const Store& store, int partition, std::int16_t epoch) {
    const PartitionInfo& info = store.find("t")->partitions[static_cast<std::size_t>(partition)];
    const LogView view = store.view(info);
    const Transactions transactions = scan_transactions(fs, view);
    if (!transactions.open().empty()) return Shown::open;
    bool any = false, aborted = false, committed = false;
    for (const SegmentFile& segment : view.files.segments) {
      const ScanRange range{.position = 0,
                            .end = segment.size,
                            .segment_base = segment.base,
                            .after = segment.base - 1,
                            .below = {}};
      scan_to_end(fs, segment, range, [&](ByteView unit, UnitKind kind, std::uint64_t) {
        UnitInfo unit_info;
        if (read_unit_info(unit, kind, unit_info) || unit_info.control || unit_info.producer_epoch != epoch)
          return;
        any = true;
        (transactions.aborted(unit_info) ? aborted : committed) = true;
      });
    }
    if (!any) return Shown::nothing;
    if (aborted && committed) return Shown::mixed;
    return aborted ? Shown::aborted : Shown::committed;
  }

  std::string look(const ProducersFile& file) {
    const Store store = open();
    bool committed = false;
    for (const std::int16_t epoch : {std::int16_t{0}, std::int16_t{1}}) {
      const Shown a = shown(store, 0, epoch), b = shown(store, 1, epoch);
      if (a == Shown::open || b == Shown::open) return "a transaction is open in the log";
      if (a == Shown::mixed || b == Shown::mixed) return "half of a partition is aborted";
      if (epoch == 0 && (a == Shown::committed || b == Shown::committed)) return "what nobody committed is";
      if (epoch == 0) continue;
      committed = a == Shown::committed || b == Shown::committed;
      if (committed && a != b) return "committed in one partition only";
    }
    if (committed_ && !committed) return "the commit was acknowledged";
    const GroupStore groups(fs, kLogs, clock, {.lock_wait = 0});
    const auto group = groups.read("g");
    const bool visible = group && !group->offsets.empty();
    if (visible != committed) return "the group's offset is not as the records are";
    if (group && !group->pending_txn.empty()) return "offsets are pending";
    const auto entry = file.transactions.find("A");
    if (committed && (entry == file.transactions.end() || entry->second.committed != true))
      return "the file does not say that it was committed";
    for (const char* partition : {"/logs/t-0", "/logs/t-1"}) {
      if (!fs.stat(partition)) continue;
      // What opening puts right, it puts right for good.
      const auto log = open().open_for_append(*store.find("t"), PartitionId(partition[8] - '0'));
      log->begin();
      log->close();
      if (const std::string said = producer_files_say(fs, partition); !said.empty())
        return partition + (": " + said);
    }
    return {};
  }

  TopicFormat format_;
  std::int16_t second_epoch_ = 0;
  bool committed_ = false;
};

struct Failure {
  DiskFate fate;
  UnsyncedFate rest;
};

}  // namespace

TEST_CASE("a transaction is whole after a failure at any call") {
  constexpr Failure faults[] = {{DiskFate::power_off, UnsyncedFate::all_lost},
                                {DiskFate::power_off, UnsyncedFate::all_kept},
                                {DiskFate::power_off, UnsyncedFate::random_blocks},
                                {DiskFate::fails, UnsyncedFate::all_kept},
                                {DiskFate::torn, UnsyncedFate::random_blocks}};
  const char* const text = std::getenv("TK_CRASH_EVERY");
  const std::uint64_t every = text == nullptr ? 9 : std::strtoull(text, nullptr, 10);
  std::uint64_t runs = 0, first = 0;
  for (const TopicFormat format : {TopicFormat::json, TopicFormat::kafka}) {
    for (const auto& [fate, rest] : faults) {
      for (std::uint64_t number = first++ % every;; number += every) {
        World world(format);
        bool met = false;
        const std::uint64_t before = world.fs.calls();
        world.fs.on_call = [&](const DiskCall& call) {
          if (call.number != before + number) return DiskFate::done;
          met = true;
          return fate;
        };
        try {
          world.script();
        } catch (const Error&) {
        }
        world.fs.on_call = nullptr;
        world.fs.power_off(rest, number);
        world.fs.power_on();
        if (!met) break;
        ++runs;
        if (const std::string wrong = world.settle(); !wrong.empty()) {
          FAIL_CHECK(topic_format_name(format) << " call " << number << " fate " << static_cast<int>(fate)
                                               << " rest " << static_cast<int>(rest) << ": " << wrong);
        }
      }
    }
  }
  CHECK(runs * every > 500);
}
