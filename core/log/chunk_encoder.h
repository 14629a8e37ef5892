// One chunk of input as units for the partitions: routing, batching, encoding. Has no order and takes no
// lock, so several threads do it side by side, each on a chunk of its own (append_pipeline.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/format/batch.h"
#include "core/format/json_record.h"
#include "core/format/topic_format.h"
#include "core/log/log_config.h"
#include "core/log/partition_log.h"
#include "core/log/partitioner.h"

namespace tk {

/// One record of input. It points into its chunk; 32 bytes, since a chunk has thousands.
struct InputRecord {
  const char* key = nullptr;
  const char* value = nullptr;
  std::int32_t key_size = -1;    // -1: null
  std::int32_t value_size = -1;  // -1: null
  std::int32_t partition = -1;   // asked for by the input; -1: by the partitioner
  std::int32_t extra = -1;       // index of an InputExtra; -1: none
};

/// What only some records have.
struct InputExtra {
  std::optional<std::int64_t> timestamp;
  std::uint32_t first_header = 0;
  std::uint32_t header_count = 0;
  bool value_is_json = false;
};

/// What is wrong with a record of the input; its number is known only when its turn comes.
struct InputFault {
  ErrorCode code = ErrorCode::invalid_record;
  /// Which record of the chunk, from 0.
  std::size_t record = 0;
  std::string message;
};

/// A chunk of input split into records.
struct ParsedChunk {
  std::vector<InputRecord> records;
  std::vector<InputExtra> extras;
  std::vector<HeaderView> headers;
  /// Text that was decoded from the chunk (escapes); blocks never move.
  std::vector<std::unique_ptr<std::string>> texts;
  /// A record asks for its partition.
  bool partition_asked = false;
  /// Ends the input: the records before it count.
  std::optional<InputFault> fault;

  void clear() {
    partition_asked = false;
    records.clear();
    extras.clear();
    headers.clear();
    texts.clear();
    fault.reset();
  }
};

/// How records become units.
struct EncodeOptions {
  TopicFormat format = TopicFormat::json;
  LogConfig config;
  Compression compression;
  std::int64_t batch_size = 16384;
  Partitioner partitioner = Partitioner::murmur2;
  /// Partitions that keys are spread over; the pipeline may have room for more, which only the input can
  /// ask for.
  std::int32_t hash_partitions = 1;
  /// All records go here.
  std::optional<std::int32_t> partition;
  /// Create time of records without one of their own; nothing: the clock, once a chunk.
  std::optional<std::int64_t> timestamp;
  /// Added to every record.
  std::vector<HeaderView> headers;
  /// Where a sticky choice begins; any number.
  std::uint32_t sticky_start = 0;
  /// Whose batches they are, if of somebody's. Records without a key then go to the partitions in turn, by
  /// their number in the input, so that a rerun places each as the first run did.
  struct Producer {
    ProducerId id;
    std::int16_t epoch = 0;
    bool transactional = false;
  };
  std::optional<Producer> producer;
};

/// What a record is appended with, its own and what the run adds.
struct RecordFields {
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  std::int64_t timestamp = 0;
  std::span<const HeaderView> headers;
  bool value_is_json = false;
};

/// What one chunk became in one partition: units in a row, and where batches end.
struct PartitionOutput {
  Buffer bytes;
  std::vector<AppendUnit> units;
  /// Borders of batches: units and records before each.
  struct Border {
    std::size_t units = 0;
    std::int64_t offsets = 0;
    std::size_t bytes = 0;
  };
  std::vector<Border> borders;
  std::int64_t offsets = 0;  // records in it
  Offset base;               // reserved
  LeaderEpoch epoch{0};
  std::int64_t skip = 0;           // of a producer: its first records that the log holds already
  std::int64_t last_skipped = -1;  // number of the last of those in the partition, from 0
  std::int32_t base_sequence = 0;  // of a producer: the sequence of the first record behind those
  std::int64_t to_skip = 0;        // while it is being encoded
  // The batch being built.
  BatchBuilder builder;
  std::size_t open_bytes = 0;  // of a json batch
  std::int64_t open_records = 0;

  void clear() {
    bytes.clear();
    units.clear();
    borders.clear();
    offsets = 0;
    open_bytes = 0;
    open_records = 0;
    skip = 0;
    base_sequence = 0;
    builder.start();
  }
  void close_border() { borders.push_back({units.size(), offsets, bytes.size()}); }
  /// The same where every record is a unit.
  void close_json_border() {
    borders.push_back({units.size(), static_cast<std::int64_t>(units.size()), bytes.size()});
    open_bytes = 0;
  }
};

/// A chunk on its way. Its buffers are reused for the next one.
struct EncodedChunk {
  ParsedChunk parsed;
  /// Number of the chunk in the input, from 0.
  std::uint64_t ticket = 0;
  /// Number of its first record in the input, from 0; of a producer only.
  std::uint64_t first_record = 0;
  /// The create time of records without one of their own.
  std::int64_t now_ms = 0;
  /// Of each record; empty: all go to `single`.
  std::vector<std::int32_t> partition_of;
  std::int32_t single = 0;
  /// By partition.
  std::vector<PartitionOutput> outputs;
  /// Partitions with something in this chunk.
  std::vector<std::int32_t> touched;
  Compressor compressor;
  JsonRecordEncoder json;
  std::vector<HeaderView> headers;
};

class ChunkEncoder {
 public:
  /// `options` must outlive the encoder.
  explicit ChunkEncoder(const EncodeOptions& options) : options_(options) {}

  /// Chooses the partition of every record, and counts what each partition gets.
  void route(EncodedChunk& chunk) const;
  /// Encodes v2 batches with base offset 0, leaving out what is to be skipped. A record that is too large
  /// becomes the chunk's fault; then only the batches that were closed before it are left.
  void encode_batches(EncodedChunk& chunk) const;
  /// Encodes json records from the base offset of each output on. With a fault in the chunk only the batches
  /// that closed before it are left, so it is run once before offsets are reserved, too, to count them.
  void encode_json(EncodedChunk& chunk) const;
  /// The fields of a record with what the run adds to it; valid until the next call for this chunk.
  RecordFields fields(EncodedChunk& chunk, const InputRecord& record) const;

 private:
  std::size_t encode_json_run(EncodedChunk& chunk, PartitionOutput& output, std::size_t at) const;

  const EncodeOptions& options_;
};

}  // namespace tk
