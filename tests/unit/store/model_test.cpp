// A partition's life at random (appends, transactions, rolls, compaction, retention, deletion of records,
// each of them met by failures and power cuts) beside a model in memory that knows what must be there, what
// may be, and what must not.
//
// TK_MODEL_ROUNDS (default 120) lives of 40 steps each; TK_MODEL_SEED (default 1) is the first one's seed.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/log/key_map.h"
#include "core/log/record_walk.h"
#include "core/store/store_transactions.h"
#include "core/store/upkeep.h"
#include "tests/support/crash_world.h"
#include "tests/support/keyed_log.h"
#include "tests/support/produced.h"

using namespace tk;
using namespace tk::test;

namespace {

const std::string kLogs = "/logs";
constexpr std::int64_t kDeleteRetention = 3600000;

/// What became of a transaction.
enum class Fate : std::uint8_t { open, committed, aborted };

struct Written {
  KeyedRecord record;
  /// The epoch of its transaction; nothing: it is in none.
  std::optional<std::int16_t> epoch;
  /// Of a tombstone: when a compaction met it first.
  std::optional<std::int64_t> met;
  /// A compaction may have removed it for its age.
  bool may_be_gone = false;
};

class Life {
 public:
  Life(std::uint64_t seed, TopicFormat format) : random_(seed), format_(format) {
    Store store = open();
    NewTopic topic;
    topic.name = "t";
    topic.format = format;
    topic.configs = {{"segment.bytes", "600"}, {"index.interval.bytes", "100"}};
    store.create_topic(topic);
    fs_.power_off(UnsyncedFate::all_kept);
    fs_.power_on();
  }

  /// One step, as one command, and what is wrong after it; empty if nothing is.
  std::string step() {
    clock_.set(clock_.now_ms() +
               static_cast<std::int64_t>(below(4) == 0 ? below(2 * kDeleteRetention) : below(500)));
    fs_.now_ms = clock_.now_ms();
    const bool fails = below(3) == 0;
    if (fails) arm();
    try {
      act();
    } catch (const Error& error) {
      if (!fails || !met_) return last_ + " was refused: " + error.message() + " " + error.path();
    }
    fs_.on_call = nullptr;
    if (fails) cut_power();
    try {
      if (const std::string wrong = look(false); !wrong.empty()) return last_ + ": " + wrong;
      settle();
      if (const std::string wrong = look(true); !wrong.empty()) return last_ + ", then settled: " + wrong;
    } catch (const Error& error) {
      return "after " + last_ + ": " + error.message() + " " + error.path();
    }
    return {};
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  Store open() {
    Store::Options options;
    options.lock_wait = 0;
    return Store::open_for_writing(fs_, kLogs, options);
  }

  /// Some call of the next command meets a failure.
  void arm() {
    constexpr DiskFate fates[] = {DiskFate::power_off, DiskFate::power_off, DiskFate::fails, DiskFate::torn};
    const DiskFate fate = fates[below(4)];
    const std::uint64_t number = fs_.calls() + below(below(2) == 0 ? 12 : 60);
    met_ = false;
    fs_.on_call = [this, fate, number](const DiskCall& call) {
      if (call.number != number) return DiskFate::done;
      met_ = true;
      return fate;
    };
    last_ = "(fate " + std::to_string(static_cast<int>(fate)) + " at call " + std::to_string(number) + ") ";
  }
  void cut_power() {
    constexpr UnsyncedFate rests[] = {UnsyncedFate::all_lost, UnsyncedFate::all_kept,
                                      UnsyncedFate::random_blocks};
    fs_.power_off(rests[below(3)], random_());
    fs_.power_on();
  }

  void act() {
    if (fs_.on_call == nullptr) last_.clear();
    Store store = open();
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
        return append(store);
      case 3:
      case 4:
        return append_in_transaction(store);
      case 5:
        return end_transaction(store);
      case 6:
        return roll(store);
      case 7:
      case 8:
        return compact_log(store);
      default:
        return below(2) == 0 ? retain_log(store) : delete_some(store);
    }
  }

  std::vector<std::pair<std::string, std::optional<std::string>>> some_records() {
    std::vector<std::pair<std::string, std::optional<std::string>>> records;
    for (std::uint64_t i = 0, count = 1 + below(5); i < count; ++i) {
      std::optional<std::string> value = "v" + std::to_string(serial_++) + std::string(below(30), 'x');
      if (below(6) == 0) value.reset();
      records.emplace_back("k" + std::to_string(below(8)), value);
    }
    return records;
  }

  void append(Store& store) {
    last_ += "append";
    const auto log = store.open_for_append(*store.find("t"), PartitionId(0));
    for (std::uint64_t turns = 1 + below(3); turns > 0; --turns) {
      log->begin();
      write(*log, ProducerFields{ProducerId(-1), -1, -1, false}, {});
      log->yield();
      promised_ = std::max(promised_, log->durable_end().value());
    }
    log->begin();
    log->close();
  }

  void append_in_transaction(Store& store) {
    last_ += "append in a transaction";
    StoreTransactions transactions(store, clock_);
    TransactionEntry entry;
    if (const auto open = open_transaction(); open && below(4) != 0) {
      entry = *open;
    } else {
      last_ += " that begins";
      entry = transactions.coordinator().begin("A", 900000);
    }
    fates_[entry.epoch] = Fate::open;
    transactions.coordinator().join("A", entry.epoch, {{"t", PartitionId(0)}});
    const auto log = store.open_for_append(*store.find("t"), PartitionId(0));
    log->begin();
    require_open_transaction(fs_, kLogs, "A", entry.epoch);
    const ProducerEntry* const known = log->producers().find(entry.id);
    const bool has = known != nullptr && known->epoch == entry.epoch && known->last_batch() != nullptr;
    write(*log, {entry.id, entry.epoch, has ? known->last_batch()->last_sequence + 1 : 0, true}, entry.epoch);
    log->close();
    promised_ = std::max(promised_, log->durable_end().value());
  }

  void write(PartitionLog& log, ProducerFields producer, std::optional<std::int16_t> epoch) {
    const auto records = some_records();
    // Where the append ends early, settle() forgets what did not reach the log.
    const auto note = [&](Offset at, const std::pair<std::string, std::optional<std::string>>& record) {
      drop_from(at.value());
      written_.push_back({{at.value(), record.first, record.second, clock_.now_ms()}, epoch, {}, false});
    };
    Buffer out;
    std::vector<AppendUnit> units;
    if (format_ == TopicFormat::kafka) {
      BatchBuilder builder;
      Compressor compressor;
      builder.start();
      for (std::size_t i = 0; i < records.size(); ++i) {
        builder.add(out, clock_.now_ms(), records[i].first, records[i].second, {});
        note(log.log_end() + static_cast<std::int64_t>(i), records[i]);
      }
      BatchFields fields;
      fields.base_offset = log.log_end();
      fields.leader_epoch = log.leader_epoch();
      fields.producer_id = producer.id;
      fields.producer_epoch = producer.epoch;
      fields.base_sequence = producer.base_sequence;
      if (producer.transactional) fields.attribute_bits = kTransactionalBit;
      const UnitInfo info = builder.finish(fields, {}, compressor, out);
      units.push_back({static_cast<std::uint32_t>(info.size), info.count, info.max_timestamp});
    } else {
      std::int32_t sequence = producer.base_sequence;
      for (std::size_t i = 0; i < records.size(); ++i) {
        RecordView record;
        record.timestamp = clock_.now_ms();
        record.key = records[i].first;
        if (records[i].second) record.value = *records[i].second;
        JsonFields fields;
        fields.leader_epoch = log.leader_epoch();
        fields.producer_id = producer.id;
        fields.producer_epoch = producer.epoch;
        fields.sequence = sequence;
        fields.transactional = producer.transactional;
        const std::size_t begin = out.size();
        encode_json_record(out, log.log_end() + static_cast<std::int64_t>(i), record, fields);
        note(log.log_end() + static_cast<std::int64_t>(i), records[i]);
        units.push_back({static_cast<std::uint32_t>(out.size() - begin), 1, clock_.now_ms()});
        if (producer.id.value() >= 0) sequence = sequence_after(sequence, 1);
      }
    }
    log.append(out.view(), units, producer.id.value() < 0 ? nullptr : &producer);
  }

  void end_transaction(Store& store) {
    const auto open = open_transaction();
    if (!open) return roll(store);
    StoreTransactions transactions(store, clock_);
    const bool commits = below(2) == 0;
    last_ += commits ? "commit" : "abort";
    asked_[open->epoch] = commits;
    if (commits) {
      transactions.coordinator().commit("A", open->epoch, nullptr);
      fates_[open->epoch] = Fate::committed;
    } else {
      transactions.coordinator().abort("A", open->epoch);
      fates_[open->epoch] = Fate::aborted;
    }
  }

  void roll(Store& store) {
    last_ += "roll";
    const auto log = store.open_for_append(*store.find("t"), PartitionId(0));
    log->begin();
    log->close_active_segment();
    log->close();
  }

  void compact_log(Store& store) {
    CompactRun run;
    run.force = true;
    run.roll = below(2) == 0;
    run.map_bytes = KeyMap::kLeastBytes;
    last_ += run.roll ? "roll and compact" : "compact";
    const TopicInfo& topic = *store.find("t");
    const ConfigMap settings = settings_for_run(
        topic, {{"cleanup.policy", "compact"}, {"delete.retention.ms", std::to_string(kDeleteRetention)}});
    // What an interrupted run may have reached.
    may_be_clean_ = std::max(may_be_clean_, store.view(topic.partitions[0]).log_end.value());
    for (Written& it : written_) {
      if (it.record.value) continue;
      if (it.met && clock_.now_ms() >= *it.met + kDeleteRetention) it.may_be_gone = true;
      if (!it.met) it.met = clock_.now_ms();
    }
    const CompactionResult result =
        compact(store, topic, topic.partitions[0], settings, clock_.now_ms(), run);
    if (result.action == CompactionResult::Action::compacted) {
      clean_ = std::max(clean_, result.cleaned_to.value());
    }
  }

  void retain_log(Store& store) {
    last_ += "retain";
    const TopicInfo& topic = *store.find("t");
    const std::int64_t ms = static_cast<std::int64_t>(below(3 * kDeleteRetention));
    const bool by_age = below(2) == 0;
    const ConfigMap settings =
        settings_for_run(topic, {{"cleanup.policy", "delete"},
                                 {"retention.ms", by_age ? std::to_string(ms) : "-1"},
                                 {"retention.bytes", by_age ? "-1" : std::to_string(500 + below(4000))}});
    const auto run = [&](bool dry) {
      return retain(store, topic, topic.partitions[0], settings, clock_.now_ms(), dry);
    };
    const std::int64_t start = run(true).log_start.value();
    if (by_age) {
      for (const Written& it : written_) {
        const bool young = it.record.timestamp >= clock_.now_ms() - ms;
        if (young && it.record.offset < start && shown_.contains(it.record.offset))
          wrong_ = "retention takes the young record " + std::to_string(it.record.offset);
      }
    }
    highest_start_ = std::max(highest_start_, start);
    run(false);
    lowest_start_ = std::max(lowest_start_, start);
  }

  void delete_some(Store& store) {
    last_ += "delete records";
    const TopicInfo& topic = *store.find("t");
    const LogView view = store.view(topic.partitions[0]);
    const auto span = static_cast<std::uint64_t>(view.log_end.value() - view.log_start.value());
    const std::int64_t before = view.log_start.value() + static_cast<std::int64_t>(below(span / 2 + 1));
    highest_start_ = std::max(highest_start_, before);
    delete_records(store, topic, topic.partitions[0], Offset(before), false);
    lowest_start_ = std::max(lowest_start_, before);
  }

  std::optional<TransactionEntry> open_transaction() {
    const auto file = read_producers_file(fs_, kLogs);
    if (!file) return {};
    const auto it = file->transactions.find("A");
    if (it == file->transactions.end() || it->second.state != TransactionState::ongoing) return {};
    if (file->has_due(clock_.now_ms())) return {};
    return it->second;
  }

  void drop_from(std::int64_t offset) {
    std::erase_if(written_, [&](const Written& it) { return it.record.offset >= offset; });
  }

  /// What the next command does first; then the model learns what became of what was under way.
  void settle() {
    Store store = open();
    StoreTransactions transactions(store, clock_);
    transactions.coordinator().complete_due();
    const auto log = store.open_for_append(*store.find("t"), PartitionId(0));
    log->begin();
    log->close();
    const auto file = read_producers_file(fs_, kLogs);
    if (!file) return;
    const auto entry = file->transactions.find("A");
    if (entry == file->transactions.end()) return;
    for (auto& [epoch, fate] : fates_) {
      if (fate != Fate::open) continue;
      if (entry->second.state == TransactionState::ongoing && entry->second.epoch == epoch) continue;
      // Ended by a command that failed, by the begin of the next, or for its time.
      const bool committed = asked_.contains(epoch) && asked_.at(epoch) && entry->second.committed == true &&
                             entry->second.epoch == epoch + 1;
      fate = committed ? Fate::committed : Fate::aborted;
    }
  }

  std::vector<KeyedRecord> read(const LogView& view, const Transactions* committed, bool settled) {
    struct Sink {
      std::vector<KeyedRecord> found;
      std::size_t unit = 0;
      std::string damage_said;
      void begin_unit(const UnitInfo&) { unit = found.size(); }
      void record(const RecordView& record) {
        KeyedRecord& it = found.emplace_back();
        it.offset = record.offset.value();
        it.key = record.key.value_or("(null)");
        if (record.value) it.value = std::string(*record.value);
        it.timestamp = record.timestamp;
      }
      void abandon_unit() { found.resize(unit); }
      void damage(ReadDamage&& damage) { damage_said = damage.path; }
    } sink;
    if (view.empty()) return {};
    PartitionCursor cursor(fs_, view, view.log_start);
    CursorChunk chunk;
    RecordDecoder decoder;
    const Offset end = committed == nullptr ? view.log_end : committed->last_stable(view.log_end);
    while (cursor.next(chunk)) {
      walk_records(chunk, ReadScope{.from = view.log_start, .below = end, .committed = committed}, decoder,
                   sink);
    }
    // A power cut may leave zeros at the end, which the next writer cuts.
    const bool at_end = sink.damage_said == view.files.segments.back().log_path;
    if (!sink.damage_said.empty() && (settled || !at_end)) wrong_ = "damage in " + sink.damage_said;
    return sink.found;
  }

  [[nodiscard]] Fate fate_of(const Written& it) const {
    return it.epoch ? fates_.at(*it.epoch) : Fate::committed;
  }

  /// Compares what readers find with the model. Before settle() the fate of a transaction may be unknown.
  std::string look(bool settled) {
    Store store = open();
    const LogView view = store.view(store.find("t")->partitions[0]);
    const std::int64_t end = view.log_end.value(), start = view.log_start.value();
    if (end < promised_)
      return "the log ends at " + std::to_string(end) + " before the promised " + std::to_string(promised_);
    promised_ = end;
    drop_from(end);
    if (start < lowest_start_ || start > highest_start_) {
      return "the log starts at " + std::to_string(start) + ", not in " + std::to_string(lowest_start_) +
             ".." + std::to_string(highest_start_);
    }
    if (settled) lowest_start_ = highest_start_ = start;
    const Transactions transactions = scan_transactions(fs_, view);
    const std::vector<KeyedRecord> all = read(view, nullptr, settled),
                                   committed = read(view, &transactions, settled);
    if (!wrong_.empty()) return wrong_;
    if (const std::string wrong = compare(all, start); !wrong.empty()) return wrong;
    if (!settled) return {};
    // read_committed: the same without what is aborted, up to the first record that is open; a transaction
    // that began below the log start counts as long as something of it is in the files.
    std::vector<KeyedRecord> expected;
    for (const KeyedRecord& record : all) {
      const Fate fate = fate_of(at(record.offset));
      if (fate == Fate::open) break;
      if (fate == Fate::committed) expected.push_back(record);
    }
    const bool begun_below = std::ranges::any_of(
        written_, [&](const Written& it) { return it.record.offset < start && fate_of(it) == Fate::open; });
    if (committed != expected && !(begun_below && committed.empty())) {
      return "read_committed shows " + std::to_string(committed.size()) + " records, not " +
             std::to_string(expected.size());
    }
    shown_.clear();
    for (const KeyedRecord& record : all) shown_.insert(record.offset);
    if (below(4) != 0) return {};
    const bool aged = may_be_clean_ > 0 || start > 0;
    VerifyScope scope;
    scope.compacted = aged;
    if (const std::string said = verify_says(fs_, scope); !said.empty()) return "verify: " + said;
    // What is gone from the log is still in the producers' files.
    return aged ? std::string() : producer_files_say(fs_, kPartition);
  }

  const Written& at(std::int64_t offset) const {
    return *std::ranges::find(written_, offset, [](const Written& it) { return it.record.offset; });
  }

  std::string compare(const std::vector<KeyedRecord>& found, std::int64_t start) {
    std::map<std::int64_t, const KeyedRecord*> by_offset;
    for (const KeyedRecord& record : found) {
      if (!by_offset.emplace(record.offset, &record).second) return "twice: " + std::to_string(record.offset);
    }
    // From the end: the last offsets of each key below which a compaction may, or must, have removed.
    std::set<std::string> may, must;
    for (auto it = written_.rbegin(); it != written_.rend(); ++it) {
      const std::int64_t offset = it->record.offset;
      const Fate fate = fate_of(*it);
      const auto there = by_offset.find(offset);
      const std::string name = "record " + std::to_string(offset) + " of " + it->record.key;
      if (there != by_offset.end()) {
        if (*there->second != it->record) return name + " is not what was written";
        if (offset < clean_ && must.contains(it->record.key)) return name + " is superseded and still there";
        by_offset.erase(there);
      } else if (offset >= start) {
        const bool gone = offset < may_be_clean_ &&
                          (may.contains(it->record.key) || fate == Fate::aborted || it->may_be_gone);
        if (!gone) return name + " is lost";
      }
      if (fate == Fate::committed && offset < may_be_clean_) may.insert(it->record.key);
      if (fate == Fate::committed && offset < clean_) must.insert(it->record.key);
    }
    if (!by_offset.empty())
      return "record " + std::to_string(by_offset.begin()->first) + " was never written";
    return {};
  }

  std::mt19937_64 random_;
  TopicFormat format_;
  MemoryFileSystem fs_;
  FixedClock clock_{vectors::kT};
  bool met_ = false;
  std::string last_, wrong_;
  std::uint64_t serial_ = 0;

  std::vector<Written> written_;        // by offset; what is deleted stays
  std::map<std::int16_t, Fate> fates_;  // of transactions by epoch
  std::map<std::int16_t, bool> asked_;  // to commit, to abort
  std::int64_t promised_ = 0;
  std::int64_t lowest_start_ = 0, highest_start_ = 0;
  std::int64_t clean_ = 0;         // a compaction that was acknowledged went up to here
  std::int64_t may_be_clean_ = 0;  // some compaction may have
  std::set<std::int64_t> shown_;   // to a reader, after the last step
};

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("a life at random is as the model has it") {
  const std::uint64_t rounds = setting("TK_MODEL_ROUNDS", 120), first = setting("TK_MODEL_SEED", 1);
  std::uint64_t steps = 0;
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    Life life(seed, seed % 2 == 0 ? TopicFormat::json : TopicFormat::kafka);
    for (int i = 0; i < 40; ++i, ++steps) {
      if (const std::string wrong = life.step(); !wrong.empty()) {
        FAIL_CHECK("TK_MODEL_SEED=" << seed << " TK_MODEL_ROUNDS=1, step " << i << ": " << wrong);
        break;
      }
    }
  }
  CHECK(steps >= rounds * 40);
}
