// Appends what a producer with an id sends, in both formats, and asks a log what it knows of it.
#pragma once

#include <string>
#include <vector>

#include "core/format/batch.h"
#include "core/format/end_marker.h"
#include "core/format/json_record.h"
#include "core/format/topic_format.h"
#include "core/log/partition_log.h"
#include "core/log/producer_history.h"
#include "core/log/segment_names.h"
#include "tests/support/vectors.h"

namespace tk::test {

/// One batch of records with these values at the log's end; of a json topic a record each.
inline void append_produced(PartitionLog& log, TopicFormat format, const ProducerFields& producer,
                            const std::vector<std::string>& values, std::int64_t timestamp = vectors::kT) {
  Buffer out;
  std::vector<AppendUnit> units;
  if (format == TopicFormat::kafka) {
    BatchBuilder builder;
    Compressor compressor;
    builder.start();
    for (const std::string& value : values) builder.add(out, timestamp, std::nullopt, value, {});
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
    for (std::size_t i = 0; i < values.size(); ++i) {
      RecordView record;
      record.timestamp = timestamp;
      record.value = values[i];
      JsonFields fields;
      fields.leader_epoch = log.leader_epoch();
      fields.producer_id = producer.id;
      fields.producer_epoch = producer.epoch;
      fields.sequence = sequence;
      fields.transactional = producer.transactional;
      const std::size_t begin = out.size();
      encode_json_record(out, log.log_end() + static_cast<std::int64_t>(i), record, fields);
      units.push_back({static_cast<std::uint32_t>(out.size() - begin), 1, timestamp});
      sequence = sequence_after(sequence, 1);
    }
  }
  log.append(out.view(), units, producer.id.value() < 0 ? nullptr : &producer);
}

inline void append_marker(PartitionLog& log, TopicFormat format, const EndMarker& marker) {
  Buffer out;
  const UnitInfo info = encode_end_marker(out, format, log.log_end(), log.leader_epoch(), marker);
  log.append_at(info, log.leader_epoch(), out.view());
}

/// A state as a snapshot file would have it, to compare.
inline std::string snapshot_of(const ProducerState& state) {
  Buffer out;
  state.encode_snapshot(out);
  return std::string(as_text(out.view()));
}

/// What the .txnindex files of a partition hold, one behind the other.
inline std::string txn_indexes(FileSystem& fs, const std::string& directory) {
  std::string all;
  for (const SegmentFile& segment : list_partition(fs, directory).segments) {
    if (segment.has_txn_index) all += read_whole(fs, segment.beside(kTxnIndexSuffix));
  }
  return all;
}
inline std::string as_txn_index(const std::vector<TxnIndexEntry>& entries) {
  Buffer out;
  for (const TxnIndexEntry& entry : entries) entry.append_to(out);
  return std::string(as_text(out.view()));
}

/// What the files of a partition say of its producers that a reading from the log's start does not bear out;
/// empty if all agrees.
inline std::string producer_files_say(FileSystem& fs, const std::string& directory) {
  const LogView view = open_log_view(fs, directory);
  const ProducerHistory scanned = read_producer_history(fs, view, true);
  const ProducerHistory kept = read_producer_history(fs, view);
  if (snapshot_of(kept.state) != snapshot_of(scanned.state)) return "the snapshots give another state";
  if (!scanned.state.empty() && view.files.snapshots.empty()) return "there are producers and no snapshot";
  if (txn_indexes(fs, directory) != as_txn_index(scanned.aborted)) return "the .txnindex files say otherwise";
  for (const Offset snapshot : view.files.snapshots) {
    if (snapshot > view.log_end) return "a snapshot beyond the end";
  }
  return {};
}

}  // namespace tk::test
