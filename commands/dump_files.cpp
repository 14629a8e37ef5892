#include "commands/dump_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "commands/diagnostics.h"
#include "core/base/crc.h"
#include "core/base/error.h"
#include "core/base/json_writer.h"
#include "core/format/checkpoint_file.h"
#include "core/format/meta_properties.h"
#include "core/format/txn_index.h"
#include "core/io/output.h"
#include "core/log/producer_state.h"

namespace tk {
namespace {

constexpr std::uint64_t kLargestSnapshot = 256U << 20;
constexpr std::uint64_t kLargestText = 64U << 20;
/// Lines of a text file that are shown as text.
constexpr std::size_t kShownLines = 1000;

/// Says what a file is damaged by.
void damaged(Context& context, const DumpSource& source, std::uint64_t position, std::string what,
             std::string hint) {
  context.diagnostics.error(
      Error(ErrorCode::corrupt_message, std::move(what)).at(source.name, position).hint(std::move(hint)));
}

/// One JSON object on stdout.
template <class Fill>
void object(Context& context, Fill&& fill) {
  TextBuffer text;
  JsonLine line(text);
  fill(line);
  line.end();
  context.out.write({text.data(), text.size()});
}

void show_txn_entry(const std::uint8_t* entry, const DumpSource& source, const DumpStyle& style,
                    Context& context) {
  const auto at = [&](std::size_t position) { return load_be<std::int64_t>(entry + position); };
  if (!style.wants(Offset(at(10)), Offset(at(18)))) return;
  if (!style.json) {
    return context.out.write(
        fmt::format("version: 0 producerId: {} firstOffset: {} lastOffset: {} lastStableOffset: {}\n", at(2),
                    at(10), at(18), at(26)));
  }
  object(context, [&](JsonLine& line) {
    line.text("type", "txnindex").text("file", source.name).number("version", 0);
    line.number("producer_id", at(2)).number("first_offset", at(10)).number("last_offset", at(18));
    line.number("last_stable_offset", at(26));
  });
}

// One producer as the tool has it: what is known of its last batch stands behind the rest.
void show_producer(const std::uint8_t* at, const DumpSource& source, const DumpStyle& style,
                   Context& context) {
  const auto id = load_be<std::int64_t>(at);
  const auto epoch = load_be<std::int16_t>(at + 8);
  const auto last_sequence = load_be<std::int32_t>(at + 10);
  const auto last_offset = load_be<std::int64_t>(at + 14);
  const auto delta = load_be<std::int32_t>(at + 22);
  const auto timestamp = load_be<std::int64_t>(at + 26);
  const auto coordinator_epoch = load_be<std::int32_t>(at + 34);
  const auto first = load_be<std::int64_t>(at + 38);
  const bool has_batch = last_offset >= 0;
  const std::int32_t first_sequence =
      ProducedBatch{last_sequence, Offset(last_offset), delta, timestamp}.first_sequence();
  if (style.json) {
    return object(context, [&](JsonLine& line) {
      line.text("type", "producer").text("file", source.name).number("producer_id", id);
      line.number("producer_epoch", epoch).number("coordinator_epoch", coordinator_epoch);
      line.number_or_null("current_txn_first_offset", first >= 0 ? std::optional(first) : std::nullopt);
      line.number("last_timestamp", timestamp).number("first_sequence", has_batch ? first_sequence : -1);
      line.number("last_sequence", last_sequence).number("last_offset", last_offset);
      line.number("offset_delta", delta);
    });
  }
  std::string text = fmt::format(
      "producerId: {} producerEpoch: {} coordinatorEpoch: {} currentTxnFirstOffset: {} ", id, epoch,
      coordinator_epoch, first >= 0 ? fmt::format("OptionalLong[{}]", first) : "OptionalLong.empty");
  text += fmt::format("lastTimestamp: {}", timestamp);
  if (has_batch) {
    text += fmt::format(" firstSequence: {} lastSequence: {} lastOffset: {} offsetDelta: {} timestamp: {}",
                        first_sequence, last_sequence, last_offset, delta, timestamp);
  }
  context.out.write(text + "\n");
}

/// What the tool says of a snapshot that it cannot read, and where the trouble lies.
struct SnapshotFault {
  std::string what;
  std::uint64_t position = 0;
};

std::optional<SnapshotFault> snapshot_fault(ByteView bytes) {
  if (bytes.size() < 2) return SnapshotFault{"Snapshot failed schema validation: null"};
  const auto version = load_be<std::int16_t>(bytes.data());
  if (version != 1) {
    return SnapshotFault{fmt::format(
        "Snapshot failed schema validation: Snapshot contained an unknown file version {}", version)};
  }
  if (bytes.size() < 10)
    return SnapshotFault{"Snapshot failed schema validation: shorter than its header", bytes.size()};
  const auto stored = load_be<std::uint32_t>(bytes.data() + 2);
  const std::uint32_t computed = crc32c(bytes.subspan(6));
  if (stored != computed) {
    return SnapshotFault{
        fmt::format("Snapshot is corrupt (CRC is no longer valid). Stored crc: {}. Computed crc: {}", stored,
                    computed),
        2};
  }
  ProducerState state;
  if (const Fault fault = state.decode_snapshot(bytes))
    return SnapshotFault{fmt::format("Snapshot failed schema validation: {}", fault.detail), 6};
  return std::nullopt;
}

/// The entries of a checkpoint as objects.
void offset_checkpoint_objects(std::string_view text, const DumpSource& source, Context& context) {
  for (const OffsetCheckpointEntry& entry : parse_offset_checkpoint(text).entries) {
    object(context, [&](JsonLine& line) {
      line.text("type", "offset_checkpoint").text("file", source.name).text("topic", entry.topic);
      line.number("partition", entry.partition.value()).number("offset", entry.offset.value());
    });
  }
}

void epoch_checkpoint_objects(std::string_view text, const DumpSource& source, Context& context) {
  for (const LeaderEpochEntry& entry : parse_leader_epoch_checkpoint(text).entries) {
    object(context, [&](JsonLine& line) {
      line.text("type", "leader_epoch").text("file", source.name);
      line.number("epoch", entry.epoch.value()).number("start_offset", entry.start.value());
    });
  }
}

void partition_metadata_object(std::string_view text, const DumpSource& source, Context& context) {
  const PartitionMetadata metadata = parse_partition_metadata(text);
  if (metadata.fault) return;
  object(context, [&](JsonLine& line) {
    line.text("type", "partition_metadata").text("file", source.name).number("version", metadata.version);
    line.text("topic_id", metadata.topic_id.text());
  });
}

// The text itself is there for what this release does not know.
void properties_object(std::string_view text, const DumpSource& source, Context& context) {
  const MetaProperties properties = parse_meta_properties(text);
  if (properties.fault) return;
  object(context, [&](JsonLine& line) {
    line.text("type", "meta_properties").text("file", source.name).number("version", properties.version);
    line.text_or_null("cluster_id", properties.cluster_id);
    line.number_or_null("node_id", properties.node_id);
    if (properties.directory_id) {
      line.text("directory_id", properties.directory_id->text());
    } else {
      line.null("directory_id");
    }
    line.text("text", text);
  });
}

void state_object(std::string_view text, const DumpSource& source, Context& context) {
  object(context,
         [&](JsonLine& line) { line.text("type", "state").text("file", source.name).bytes("text", text); });
}

/// Why a broker could not read the file.
std::optional<TextFault> fault_of(DumpKind kind, std::string_view text) {
  if (kind == DumpKind::offset_checkpoint) return parse_offset_checkpoint(text).fault;
  if (kind == DumpKind::epoch_checkpoint) return parse_leader_epoch_checkpoint(text).fault;
  if (kind == DumpKind::partition_metadata) return parse_partition_metadata(text).fault;
  if (kind == DumpKind::properties) return parse_meta_properties(text).fault;
  return std::nullopt;
}

void show_lines(std::string_view text, const DumpSource& source, Context& context) {
  TextLines lines(text);
  std::string_view line;
  while (lines.next(line)) {
    if (lines.number() > kShownLines)
      return context.diagnostics.note(fmt::format("{}: more lines: --json has all of them", source.name));
    context.diagnostics.note(fmt::format("{}: {}", source.name, printable(line, line.size())));
  }
}

}  // namespace

void dump_txn_index(const DumpSource& source, const DumpStyle& style, Context& context) {
  if (!style.json) context.out.write(fmt::format("Dumping {}\n", source.name));
  const auto file = context.fs.open(source.opens, OpenMode::read);
  const std::uint64_t size = file->size();
  const char* const hint = "an index is derived from its log: recover rebuilds it";
  constexpr std::uint64_t kBlock = TxnIndexEntry::kSize * 1024;
  Buffer block;
  for (std::uint64_t at = 0; at < size && !context.out.closed(); at += kBlock) {
    block.resize(static_cast<std::size_t>(std::min(kBlock, size - at)));
    block.cut(file->read_at(at, {block.data(), block.size()}));
    for (std::size_t i = 0; i + TxnIndexEntry::kSize <= block.size(); i += TxnIndexEntry::kSize) {
      const auto version = load_be<std::int16_t>(block.data() + i);
      if (version != 0) {
        return damaged(context, source, at + i,
                       fmt::format("Unexpected aborted transaction version {}, supported is 0", version),
                       hint);
      }
      show_txn_entry(block.data() + i, source, style, context);
    }
  }
  const std::uint64_t whole = size / TxnIndexEntry::kSize * TxnIndexEntry::kSize;
  if (whole < size) damaged(context, source, whole, "an entry is not whole", hint);
}

void dump_producer_snapshot(const DumpSource& source, const DumpStyle& style, Context& context) {
  if (!style.json) context.out.write(fmt::format("Dumping {}\n", source.name));
  const std::string text = read_whole(context.fs, source.opens, kLargestSnapshot);
  const ByteView bytes = as_bytes(text);
  if (const auto fault = snapshot_fault(bytes)) {
    return damaged(context, source, fault->position, fault->what,
                   "a broker deletes it and takes the one before; recover makes it anew");
  }
  const auto count = load_be<std::int32_t>(bytes.data() + 6);
  if (style.json) {
    object(context, [&](JsonLine& line) {
      line.text("type", "snapshot").text("file", source.name).number("version", 1);
      line.number("crc", load_be<std::uint32_t>(bytes.data() + 2)).number("count", count);
    });
  }
  constexpr std::size_t head = 10, entry = 46;
  for (std::size_t at = head; at + entry <= bytes.size() && !context.out.closed(); at += entry)
    show_producer(bytes.data() + at, source, style, context);
}

void dump_text_file(DumpKind kind, const DumpSource& source, const DumpStyle& style, Context& context) {
  if (!style.json) {
    context.out.write(fmt::format("Dumping {}\n", source.name));
    context.diagnostics.warning(fmt::format("Ignoring unknown file {}", source.name));
  }
  const std::string text = read_whole(context.fs, source.opens, kLargestText);
  if (const auto fault = fault_of(kind, text)) {
    const std::string where = fault->line > 0 ? fmt::format("line {}: ", fault->line) : "";
    context.diagnostics.error(Error(ErrorCode::corrupt_message, where + fault->reason).at(source.name));
  }
  if (!style.json) return show_lines(text, source, context);
  switch (kind) {
    case DumpKind::offset_checkpoint:
      return offset_checkpoint_objects(text, source, context);
    case DumpKind::epoch_checkpoint:
      return epoch_checkpoint_objects(text, source, context);
    case DumpKind::partition_metadata:
      return partition_metadata_object(text, source, context);
    case DumpKind::properties:
      return properties_object(text, source, context);
    default:
      return state_object(text, source, context);
  }
}

}  // namespace tk
