#include "core/log/broker_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/format/checkpoint_file.h"
#include "core/format/txn_index.h"
#include "core/log/broker_scan.h"
#include "core/log/producer_history.h"
#include "core/log/segment_names.h"

namespace tk {
namespace {

/// A broker's start ends here.
struct Refusal {
  std::string reason;
};

/// A segment as the start goes on: a part of a file.
struct Model {
  SegmentFile file;  // its size is what is left of it
  std::uint64_t from = 0;
  std::string index_path;
  bool recovered = false;
  Offset next_offset{0};  // if recovered

  [[nodiscard]] std::uint64_t bytes() const { return file.size - from; }
};

/// The number before the first dot, as Kafka parses it: any number of digits. Nothing if it is none.
std::optional<Offset> number_of(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  const auto number = parse_int(name.substr(0, dot));
  return number ? std::optional(Offset(*number)) : std::nullopt;
}

Offset demanded_number(const std::string& name) {
  const auto number = number_of(name);
  if (!number) throw Refusal{fmt::format("{}: the name holds no offset", name)};
  return *number;
}

class Starter {
 public:
  Starter(FileSystem& fs, const std::string& directory, const BrokerStartSettings& settings,
          BrokerStart& result)
      : fs_(fs), directory_(directory), settings_(settings), result_(result) {}

  void run() {
    for (const DirEntry& entry : fs_.list(directory_)) {
      if (!entry.is_directory) names_.insert(entry.name);
    }
    check_epochs();
    sweep();
    complete_swaps();
    load_segments();
    if (!clean()) recover();
    find_end();
    load_producers();
    check_metadata();
  }
  void describe() {
    for (const auto& [base, model] : models_) result_.segments.push_back({base, model.bytes()});
  }

 private:
  [[nodiscard]] bool clean() const { return settings_.clean && !settings_.metadata_log; }
  [[nodiscard]] Offset recovery_point() const {
    return settings_.metadata_log ? Offset(0) : settings_.recovery_point;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return join_path(directory_, name); }
  [[nodiscard]] bool there(const std::string& name) const { return names_.contains(name); }

  void check_epochs();
  void sweep();
  void complete_swaps();
  void remove_covered(Offset from, Offset to);
  void promote(const std::vector<std::string>& swaps);
  void load_segments();
  void load_segment(const std::string& name);
  bool txn_index_is_sane(Offset base) const;
  std::uint64_t recover_segment(Offset base);
  ProducerState producers_at(Offset base);
  void recover();
  void delete_behind(Offset base);
  void find_end();
  void load_producers();
  void check_metadata();
  void settle_metadata_log();
  [[nodiscard]] std::vector<Offset> snapshots() const;
  bool read_snapshot(Offset at, ProducerState& state) const;

  FileSystem& fs_;
  const std::string& directory_;
  const BrokerStartSettings& settings_;
  BrokerStart& result_;
  std::set<std::string> names_;                 // files, by the names that they have at this point
  std::map<std::string, std::string> sources_;  // where a promoted file's content lies
  std::map<Offset, Model> models_;
  Offset end_{0};
};

// It is read before the segments are.
void Starter::check_epochs() {
  if (!there(std::string(kLeaderEpochFile))) return;
  const std::string file = path(std::string(kLeaderEpochFile));
  const auto fault = parse_leader_epoch_checkpoint(read_whole(fs_, file)).fault;
  if (fault)
    throw Refusal{fmt::format("{} is unreadable: {}: the log directory counts as failed", kLeaderEpochFile,
                              fault->reason)};
}

// §9.1 step 1.
void Starter::sweep() {
  std::optional<Offset> least_cleaned;
  std::vector<std::string> cleaned, swaps, gone;
  for (const std::string& name : names_) {
    if (name.ends_with(kDeletedSuffix)) {
      if (!name.ends_with(".checkpoint.deleted")) gone.push_back(name);
    } else if (name.ends_with(kCleanedSuffix)) {
      const Offset offset = demanded_number(name);
      least_cleaned = std::min(least_cleaned.value_or(offset), offset);
      cleaned.push_back(name);
    } else if (name.ends_with(kSwapSuffix)) {
      swaps.push_back(name);
    }
  }
  for (const std::string& name : swaps) {
    const Offset offset = demanded_number(name);
    if (least_cleaned && offset >= *least_cleaned) gone.push_back(name);
  }
  gone.insert(gone.end(), cleaned.begin(), cleaned.end());
  for (const std::string& name : gone) {
    names_.erase(name);
    result_.removed.push_back(name);
  }
}

// §9.1 step 2.
void Starter::complete_swaps() {
  std::vector<std::string> swaps;
  std::optional<Offset> from, to;
  for (const std::string& name : names_) {
    if (!name.ends_with(kSwapSuffix)) continue;
    swaps.push_back(name);
    if (!name.ends_with(".log.swap")) continue;
    SegmentFile segment;
    segment.base = demanded_number(name);
    segment.log_path = path(name);
    segment.size = fs_.stat(segment.log_path)->size;
    const std::string index = segment_file_name(segment.base, kIndexSuffix) + std::string(kSwapSuffix);
    const BrokerEnd end = find_end_as_broker(fs_, segment, path(index), segment.base);
    if (!end.next_offset) throw Refusal{fmt::format("{}: {}", name, end.fault.detail)};
    from = std::min(from.value_or(segment.base), segment.base);
    to = std::max(to.value_or(*end.next_offset), *end.next_offset);
    // Opening its index makes one, which is all zeros.
    if (!there(index)) swaps.push_back(index);
  }
  if (from) remove_covered(*from, *to);
  promote(swaps);
}

void Starter::remove_covered(Offset from, Offset to) {
  std::vector<std::string> gone;
  for (const std::string& name : names_) {
    if (name.ends_with(kSwapSuffix)) continue;
    const auto offset = number_of(name);
    if (offset && *offset >= from && *offset < to) gone.push_back(name);
  }
  for (const std::string& name : gone) {
    names_.erase(name);
    result_.removed.push_back(name);
    if (name.ends_with(kLogSuffix)) result_.deleted.push_back(*number_of(name));
  }
}

void Starter::promote(const std::vector<std::string>& swaps) {
  for (const std::string& swap : swaps) {
    const std::string name = swap.substr(0, swap.size() - kSwapSuffix.size());
    names_.erase(swap);
    names_.insert(name);
    sources_[name] = path(swap);
    result_.promoted.push_back(name);
    if (name.ends_with(kLogSuffix)) std::erase(result_.deleted, *number_of(name));
  }
}

// §9.1 step 3: in the order of the names.
void Starter::load_segments() {
  const std::vector<std::string> listed(names_.begin(), names_.end());
  for (const std::string& name : listed) {
    if (name.ends_with(kSnapshotSuffix)) (void)demanded_number(name);
    const bool is_index =
        name.ends_with(kIndexSuffix) || name.ends_with(kTimeIndexSuffix) || name.ends_with(kTxnIndexSuffix);
    if (is_index) {
      const Offset offset = demanded_number(name);
      if (there(segment_file_name(offset, kLogSuffix))) continue;
      names_.erase(name);
      result_.removed.push_back(name);
    } else if (name.ends_with(kLogSuffix)) {
      load_segment(name);
    }
  }
}

void Starter::load_segment(const std::string& name) {
  const Offset base = demanded_number(name);
  const std::string log = segment_file_name(base, kLogSuffix);
  Model model;
  model.file.base = base;
  // A number of fewer digits stands for the segment of the whole name, which is made if it is not there.
  const auto source = sources_.find(log);
  model.file.log_path = source != sources_.end() ? source->second : path(log);
  const auto stat = fs_.stat(model.file.log_path);
  model.file.size = stat ? stat->size : 0;
  const std::string index = segment_file_name(base, kIndexSuffix);
  const auto index_source = sources_.find(index);
  model.index_path = index_source != sources_.end() ? index_source->second : path(index);
  const bool has_index = there(index);
  names_.insert(log);
  models_[base] = model;
  if (!stat) models_[base].recovered = true, models_[base].next_offset = base;
  if (has_index && txn_index_is_sane(base)) return;
  if (!stat) return;
  result_.cut_bytes += recover_segment(base);
}

bool Starter::txn_index_is_sane(Offset base) const {
  const std::string name = segment_file_name(base, kTxnIndexSuffix);
  if (!there(name)) return true;
  const auto source = sources_.find(name);
  const std::string bytes =
      read_whole(fs_, source != sources_.end() ? source->second : path(name), 1ULL << 30);
  const auto* const at = reinterpret_cast<const std::uint8_t*>(bytes.data());
  for (std::size_t i = 0; i + TxnIndexEntry::kSize <= bytes.size(); i += TxnIndexEntry::kSize) {
    if (const auto version = load_be<std::int16_t>(at + i); version != 0)
      throw Refusal{fmt::format("{}: entry of unknown version {}", name, version)};
    if (load_be<std::int64_t>(at + i + 18) < base.value()) return false;
  }
  return true;
}

std::vector<Offset> Starter::snapshots() const {
  std::vector<Offset> found;
  for (const std::string& name : names_) {
    if (const auto number = number_of(name); number && name.ends_with(kSnapshotSuffix))
      found.push_back(*number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool Starter::read_snapshot(Offset at, ProducerState& state) const {
  constexpr std::uint64_t largest = 256U << 20;
  try {
    const std::string file = path(segment_file_name(at, kSnapshotSuffix));
    return !state.decode_snapshot(as_bytes(read_whole(fs_, file, largest)));
  } catch (const Error&) {
    return false;
  }
}

/// The producers as the log before `base` has them (§6.4).
ProducerState Starter::producers_at(Offset base) {
  ProducerState state;
  Offset from = settings_.log_start;
  const std::vector<Offset> held = snapshots();
  for (auto at = held.rbegin(); at != held.rend(); ++at) {
    if (*at > base || *at < from || !read_snapshot(*at, state)) continue;
    from = *at;
    break;
  }
  for (const auto& [segment_base, model] : models_) {
    if (segment_base >= base) break;
    const auto next = models_.upper_bound(segment_base);
    if (next != models_.end() && next->first <= from) continue;
    if (const char* const why = feed_producers_as_broker(fs_, model.file, from, base, state))
      throw Refusal{fmt::format("{}: {}", base_name(model.file.log_path), why)};
  }
  return state;
}

/// §9.2. Returns how many bytes it cuts.
std::uint64_t Starter::recover_segment(Offset base) {
  ProducerState producers = producers_at(base);
  Model& model = models_[base];
  const std::uint64_t before = model.file.size;
  const std::string name = segment_file_name(base, kLogSuffix);
  const BrokerScan scan = scan_as_broker(fs_, model.file,
                                         {.index_interval = settings_.index_interval,
                                          .from = model.from,
                                          .refusals = true,
                                          .producers = &producers});
  if (scan.refusal != nullptr)
    throw Refusal{fmt::format("{}: at byte {}: {}", name, scan.valid_bytes, scan.refusal)};
  model.recovered = true;
  model.next_offset = scan.next_offset;
  for (const std::string_view suffix : {kIndexSuffix, kTimeIndexSuffix})
    result_.rebuilt.push_back(segment_file_name(base, suffix));
  if (there(segment_file_name(base, kTxnIndexSuffix)))
    result_.rebuilt.push_back(segment_file_name(base, kTxnIndexSuffix));
  if (scan.split_at) {
    // What could not be indexed becomes a segment of its own, and is recovered like the others.
    Model rest;
    rest.file = model.file;
    rest.from = *scan.split_at;
    Buffer head;
    head.resize(8);
    const auto file = fs_.open(model.file.log_path, OpenMode::read);
    (void)file->read_at(rest.from, {head.data(), head.size()});
    rest.file.base = Offset(load_be<std::int64_t>(head.data()));
    model.file.size = *scan.split_at;
    models_[rest.file.base] = rest;
    if (result_.reason.empty())
      result_.reason = fmt::format("{}: split at byte {}, as offset {} cannot be indexed in it", name,
                                   *scan.split_at, rest.file.base.value());
    return 0;
  }
  const std::uint64_t kept = scan.emptied ? model.from : scan.valid_bytes;
  model.file.size = kept;
  if (kept < before && result_.reason.empty())
    result_.reason = fmt::format("{}: cut at byte {}: {}", name, kept, scan.fault.detail);
  return before - kept;
}

// §9.1 step 4.
void Starter::recover() {
  if (models_.empty()) return;
  auto at = models_.upper_bound(recovery_point());
  if (at != models_.begin()) --at;
  Offset base = at->first;
  for (;;) {
    const std::uint64_t cut = recover_segment(base);
    result_.cut_bytes += cut;
    if (cut > 0) return delete_behind(base);
    const auto next = models_.upper_bound(base);
    if (next == models_.end()) return;
    base = next->first;
  }
}

void Starter::delete_behind(Offset base) {
  for (auto at = models_.upper_bound(base); at != models_.end(); at = models_.erase(at)) {
    result_.deleted.push_back(at->first);
    result_.cut_bytes += at->second.bytes();
    names_.erase(segment_file_name(at->first, kSnapshotSuffix));
  }
}

// §9.1 steps 5 to 7.
void Starter::find_end() {
  if (!models_.empty()) {
    const Model& last = models_.rbegin()->second;
    end_ = last.next_offset;
    if (!last.recovered) {
      const BrokerEnd found = find_end_as_broker(fs_, last.file, last.index_path, last.file.base);
      if (!found.next_offset) {
        throw Refusal{fmt::format("{}: at byte {}: {} (found {})", base_name(last.file.log_path),
                                  found.position, found.fault.detail, found.fault.found)};
      }
      end_ = *found.next_offset;
    }
    if (end_ < settings_.log_start) {
      result_.reason = fmt::format(
          "the log's end {} lies below its start by the checkpoint {}: all segments "
          "are removed",
          end_.value(), settings_.log_start.value());
      for (const auto& [base, model] : models_) {
        result_.deleted.push_back(base);
        result_.cut_bytes += model.bytes();
      }
      models_.clear();
    }
  }
  if (models_.empty()) {
    Model fresh;
    fresh.file.base = end_ = settings_.log_start;
    fresh.recovered = true;
    fresh.next_offset = end_;
    models_[end_] = fresh;
  }
  result_.log_end = end_;
  result_.log_start = std::max(settings_.log_start, models_.begin()->first);
  if (settings_.metadata_log) settle_metadata_log();
}

// §9.1 step 8. After a clean shutdown without any snapshot there is nothing to be read.
void Starter::load_producers() {
  const std::vector<Offset> held = snapshots();
  if (clean() && held.empty()) return;
  const bool all_recovered =
      std::all_of(models_.begin(), models_.end(), [](const auto& entry) { return entry.second.recovered; });
  if (!all_recovered && models_.rbegin()->second.file.size > 0) (void)producers_at(end_);
}

// The snapshots of the quorum's state: one that is ahead of the log takes its place (§9.1, end).
void Starter::settle_metadata_log() {
  std::optional<std::pair<LeaderEpoch, Offset>> newest;
  for (const std::string& name : names_) {
    const auto snapshot = parse_snapshot_name(name);
    if (name.ends_with(".part") || name.ends_with(".checkpoint.deleted")) {
      result_.removed.push_back(name);
    } else if (snapshot && name.ends_with(kCheckpointSuffix)) {
      const std::pair found(snapshot->epoch, snapshot->end);
      newest = std::max(newest.value_or(found), found);
    }
  }
  if (!newest || newest->second <= end_) return;
  result_.reason = fmt::format("the newest snapshot ends at {}, behind the log's end {}: the log is dropped",
                               newest->second.value(), end_.value());
  for (const auto& [base, model] : models_) {
    result_.deleted.push_back(base);
    result_.cut_bytes += model.bytes();
  }
  models_.clear();
  result_.log_end = result_.log_start = end_ = newest->second;
}

// When the log is loaded its id is looked at.
void Starter::check_metadata() {
  if (!settings_.kraft || settings_.metadata_log) return;
  const std::string name(kPartitionMetadataFile);
  std::optional<Uuid> id;
  if (there(name)) {
    const PartitionMetadata metadata = parse_partition_metadata(read_whole(fs_, path(name)));
    if (metadata.fault) throw Refusal{fmt::format("{} is unreadable: {}", name, metadata.fault->reason)};
    id = metadata.topic_id;
  }
  const auto stray = [&](std::string why) {
    result_.stray = true;
    result_.reason = std::move(why) + ": the directory is renamed to -stray and an empty log takes its place";
    result_.log_end = result_.log_start = Offset(0);
    models_.clear();
    models_[Offset(0)] = {};
  };
  if (!id) return stray(name + " is missing");
  if (settings_.assigned == false) return stray("the metadata log assigns the partition to other brokers");
  if (settings_.topic_exists == false) return stray("the metadata log does not know the topic");
  if (settings_.topic_id && *settings_.topic_id != *id) {
    return stray(fmt::format("topic id {} is not that of the metadata log, {}", id->text(),
                             settings_.topic_id->text()));
  }
  if (settings_.topic_exists) return;
  result_.stray.reset();
}

}  // namespace

BrokerStart plan_broker_start(FileSystem& fs, const std::string& directory,
                              const BrokerStartSettings& settings) {
  BrokerStart result;
  Starter starter(fs, directory, settings, result);
  try {
    starter.run();
  } catch (const Refusal& refusal) {
    result.starts = false;
    result.reason = refusal.reason;
    result.log_end.reset();
    result.stray = false;
  }
  starter.describe();
  return result;
}

}  // namespace tk
