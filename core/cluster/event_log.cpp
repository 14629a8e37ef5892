#include "core/cluster/event_log.h"

#include <fmt/format.h>

#include "core/base/json_writer.h"

namespace tk {
namespace {

constexpr std::uint64_t kMostBytes = 16U << 20;

std::string ids_json(const BrokerIds& ids) {
  std::string text = "[";
  for (const BrokerId id : ids) text += fmt::format("{}{}", text.size() > 1 ? "," : "", id);
  return text + "]";
}

std::string string_json(std::string_view text) {
  TextBuffer buffer;
  JsonLine(buffer).text("x", text).end();
  // {"x":"..."} and a line feed
  return {buffer.data() + 5, buffer.size() - 7};
}

/// Of a replica: its log's end and epochs, its high watermark, whether it is up.
std::string replica_json(Cluster& cluster, BrokerId id, const std::string& partition) {
  PartitionReplica* replica = cluster.replica(id, partition);
  if (replica == nullptr) return "{}";
  std::string epochs = "[";
  if (replica->log().is_open()) {
    for (const LeaderEpochEntry& entry : replica->log().epochs().entries())
      epochs +=
          fmt::format("{}[{},{}]", epochs.size() > 1 ? "," : "", entry.epoch.value(), entry.start.value());
  }
  return fmt::format(R"({{"epochs":{}],"hw":{},"leo":{},"up":{}}})", epochs,
                     replica->high_watermark().value(), replica->log().end_on_disk().value(),
                     cluster.broker(id).up);
}

std::string counts_json(const Counts& counts) {
  return fmt::format(R"({{"0":{},"1":{},"all":{}}})", counts[0], counts[1], counts[2]);
}

}  // namespace

std::string event_json(const ClusterEvent& event) {
  std::string text = fmt::format(R"({{"ev":"{}")", event.kind);
  if (!event.detail.empty()) text += fmt::format(R"(,"detail":{})", string_json(event.detail));
  const bool sets = event.kind == "isr" || event.kind == "elr";
  if (sets) {
    text += fmt::format(R"(,"from":{})", ids_json(event.from_set));
  } else if (event.from >= 0) {
    text += fmt::format(R"(,"from":{})", event.from);
  }
  if (!event.level.empty()) text += fmt::format(R"(,"level":"{}")", event.level);
  if (!event.partition.empty()) text += fmt::format(R"(,"p":{})", string_json(event.partition));
  if (event.broker != kNoBroker) text += fmt::format(R"(,"r":{})", event.broker);
  if (sets) {
    text += fmt::format(R"(,"to":{})", ids_json(event.to_set));
  } else if (event.to >= 0) {
    text += fmt::format(R"(,"to":{})", event.to);
  }
  return text + "}";
}

std::uint64_t state_hash(Cluster& cluster) {
  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&](std::int64_t value) {
    for (int i = 0; i < 8; ++i)
      hash = (hash ^ ((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff)) * 0x100000001b3ULL;
  };
  mix(cluster.now());
  mix(cluster.quorum().committed().value());
  for (const auto& [id, voter] : cluster.quorum().voters()) mix(voter->up() ? voter->epoch().value() : -1);
  for (const auto& [name, topic] : cluster.image().topics) {
    for (std::size_t i = 0; i < topic.partitions.size(); ++i) {
      const PartitionRegistration& state = topic.partitions[i];
      mix(state.leader);
      mix(state.leader_epoch);
      mix(state.partition_epoch);
      for (const BrokerId id : state.isr) mix(id);
      mix(-1);
      for (const BrokerId id : state.elr) mix(id);
      for (const BrokerId id : state.replicas) {
        PartitionReplica* replica = cluster.replica(id, fmt::format("{}-{}", name, i));
        if (replica == nullptr) continue;
        mix(cluster.broker(id).up ? 1 : 0);
        mix(replica->high_watermark().value());
        mix(replica->log().end_on_disk().value());
        if (!replica->log().is_open()) continue;
        for (const LeaderEpochEntry& entry : replica->log().epochs().entries()) {
          mix(entry.epoch.value());
          mix(entry.start.value());
        }
      }
    }
  }
  return hash;
}

void append_step_line(TextBuffer& to, Cluster& cluster, const StepReport& report) {
  Counts lost{};
  std::string replicas = "{";
  const PartitionRegistration* state = nullptr;
  if (!report.partition.empty()) {
    const TopicPartition name = split_topic_partition(report.partition);
    state = cluster.image().partition(name.topic, name.partition.value());
  }
  if (state != nullptr) {
    lost = cluster.lost(report.partition);
    for (const BrokerId id : state->replicas) {
      replicas += fmt::format("{}\"{}\":{}", replicas.size() > 1 ? "," : "", id,
                              replica_json(cluster, id, report.partition));
    }
  }
  std::string args = "[", events = "[";
  for (const std::string& arg : report.args) args += (args.size() > 1 ? "," : "") + string_json(arg);
  for (const std::string& event : report.events) events += (events.size() > 1 ? "," : "") + event;
  JsonLine line(to);
  line.raw("acked", counts_json(cluster.accounting().acked_counts())).raw("args", args + "]");
  if (state != nullptr) line.number("epoch", state->leader_epoch);
  line.raw("events", events + "]").text("hash", fmt::format("{:016x}", state_hash(cluster)));
  if (state != nullptr)
    line.number_or_null(
        "leader", state->leader == kNoBroker ? std::nullopt : std::optional<std::int64_t>(state->leader));
  line.raw("lost", counts_json(lost)).number("now", cluster.now()).text("op", report.op);
  if (state != nullptr) line.number("partition_epoch", state->partition_epoch);
  line.raw("replicas", replicas + "}").text("reply", report.reply).number("step", report.step).end();
}

void append_to_event_log(FileSystem& fs, const std::string& directory, std::string_view lines) {
  const std::string path = join_path(directory, kEventsFile);
  const auto file = fs.open(path, OpenMode::create);
  const std::uint64_t size = file->size();
  if (size + lines.size() <= kMostBytes) {
    file->write_at(size, as_bytes(lines));
    return;
  }
  std::string all = read_whole(fs, path, 2 * kMostBytes) + std::string(lines);
  const std::size_t cut = all.find('\n', all.size() / 2);
  replace_atomically(fs, path, as_bytes(std::string_view(all).substr(cut == std::string::npos ? 0 : cut + 1)),
                     false);
}

}  // namespace tk
