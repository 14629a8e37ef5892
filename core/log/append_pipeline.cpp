#include "core/log/append_pipeline.h"

#include <fmt/format.h>

#include <algorithm>

namespace tk {

namespace {

/// Input of this size is likely to be followed by more.
constexpr std::size_t kWorthAThread = 256U << 10;

/// How often the holder of a partition looks whether another writer stands in line.
constexpr std::int64_t kLookEveryMs = 1000;

std::optional<std::string_view> text_of(const char* data, std::int32_t size) {
  if (size < 0) return std::nullopt;
  return std::string_view(data, static_cast<std::size_t>(size));
}

}  // namespace

/// What one chunk became in one partition.
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
    builder.start();
  }
  void close_border() { borders.push_back({units.size(), offsets, bytes.size()}); }
};

struct AppendPipeline::Job {
  InputChunk chunk;
  ParsedChunk parsed;
  std::string name;
  bool restart = false;
  std::uint64_t ticket = 0;
  std::int64_t now_ms = 0;
  std::vector<std::int32_t> partition_of;  // by record; empty: all to `single`
  std::int32_t single = 0;
  std::vector<PartitionOutput> outputs;
  std::vector<std::int32_t> touched;  // partitions with something in this chunk
  Compressor compressor;
  std::vector<HeaderView> headers;
  std::exception_ptr failure;  // of the work; thrown when the job's turn to be given comes
};

/// A batch that was appended and waits for its sync.
struct AppendPipeline::Pending {
  AppendedBatch batch;
};

AppendPipeline::AppendPipeline(RecordSource& source, std::int32_t partitions,
                               std::function<std::unique_ptr<PartitionLog>(std::int32_t)> open_log,
                               const Clock& clock, Options options)
    : source_(source),
      open_log_(std::move(open_log)),
      clock_(clock),
      options_(std::move(options)),
      logs_(static_cast<std::size_t>(partitions)),
      next_offsets_(static_cast<std::size_t>(partitions)),
      tallies_(static_cast<std::size_t>(partitions)),
      pending_(static_cast<std::size_t>(partitions)) {}

AppendPipeline::~AppendPipeline() = default;

void AppendPipeline::run() {
  std::vector<std::unique_ptr<Job>> jobs;
  for (unsigned i = 0; i < worker_count(); ++i) {
    jobs.push_back(std::make_unique<Job>());
    jobs.back()->outputs.resize(logs_.size());
  }
  last_look_ms_ = monotonic_ms();
  try {
    run_ordered(
        jobs, [&](Job& job) { return take(job); },
        [&](Job& job) {
          try {
            work(job);
          } catch (...) {
            job.failure = std::current_exception();
          }
        },
        [&](Job& job) { return give(job); },
        [](const Job& job) {
          return !job.chunk.input_paused() && job.chunk.bytes().size() >= kWorthAThread;
        });
    close_all();
  } catch (...) {
    settle_all();
    throw;
  }
}

// ---- input, one worker at a time
// -------------------------------------------------------------------------------------

bool AppendPipeline::take(Job& job) {
  for (;;) {
    if (failed_.load() || (options_.interrupted && options_.interrupted())) return false;
    const std::int64_t now = monotonic_ms();
    if (now - last_look_ms_ >= kLookEveryMs) {
      last_look_ms_ = now;
      const bool wanted = std::any_of(logs_.begin(), logs_.end(), [](const auto& log) {
        return log && log->has_turn() && log->wanted_by_other();
      });
      if (wanted) yield_all();
    }
    // What is there is taken at once; only when nothing is, the partitions are given up before waiting on.
    Got got = source_.take(job.chunk, 0, job.name, job.restart);
    if (got == Got::pause) {
      yield_all();
      got = source_.take(job.chunk, kLookEveryMs, job.name, job.restart);
      if (got == Got::pause) continue;
    }
    if (got == Got::end) return false;
    job.ticket = taken_.fetch_add(1);
    job.now_ms = options_.timestamp.value_or(clock_.now_ms());
    return true;
  }
}

// Called with the input in hand, so nothing new is taken meanwhile.
void AppendPipeline::wait_until_idle() {
  for (std::uint64_t given = given_.load(); given != taken_.load() && !failed_.load();
       given = given_.load()) {
    given_.wait(given);
  }
}

void AppendPipeline::yield_all() {
  wait_until_idle();
  if (failed_.load()) return;
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    if (!logs_[i] || !logs_[i]->has_turn()) continue;
    logs_[i]->yield();
    note_durable(static_cast<std::int32_t>(i));
  }
}

void AppendPipeline::close_all() {
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    if (!logs_[i] || !logs_[i]->has_turn()) continue;
    logs_[i]->close();
    note_durable(static_cast<std::int32_t>(i));
  }
}

// After a failure: what is whole on disk is made durable, so that the count that is told is right. What fails
// once more here is only another symptom of the failure that is being told already.
void AppendPipeline::settle_all() {
  for (std::size_t i = 0; i < logs_.size(); ++i) {
    if (!logs_[i] || !logs_[i]->has_turn()) continue;
    try {
      logs_[i]->settle();
    } catch (const Error&) {
    }
    note_durable(static_cast<std::int32_t>(i));
  }
}

// ---- side by side
// ----------------------------------------------------------------------------------------------------

void AppendPipeline::work(Job& job) {
  // Whatever happens, the workers behind must get their turn to reserve.
  struct PassTurn {
    TurnGate& gate;
    std::uint64_t ticket;
    bool passed = false;
    void pass() {
      if (!passed) {
        gate.wait_for(ticket);
        gate.pass();
      }
      passed = true;
    }
    ~PassTurn() { pass(); }
  } turn{reserve_gate_, job.ticket};

  job.parsed.clear();
  source_.parse(job.chunk, job.parsed);
  route(job);
  if (options_.format == TopicFormat::kafka) encode_batches(job);
  if (job.parsed.fault && options_.format == TopicFormat::json)
    encode_json(job);  // finds where the last batch closes
  reserve_gate_.wait_for(job.ticket);
  reserve(job);
  turn.pass();
  if (options_.format == TopicFormat::json) {
    encode_json(job);
  } else {
    for (const std::int32_t partition : job.touched) {
      PartitionOutput& output = job.outputs[static_cast<std::size_t>(partition)];
      std::size_t at = 0;
      Offset offset = output.base;
      for (const AppendUnit& unit : output.units) {
        assign_base_offset(output.bytes.data() + at, offset, output.epoch);
        offset += unit.offsets;
        at += unit.size;
      }
    }
  }
}

namespace {

struct Fields {
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;
  std::int64_t timestamp = 0;
  std::span<const HeaderView> headers;
  bool value_is_json = false;
};

}  // namespace

// Chooses the partition of every record. Records without a key stick to one partition until its batch closes.
void AppendPipeline::route(Job& job) const {
  const std::int32_t count = options_.hash_partitions;
  const auto& records = job.parsed.records;
  for (const std::int32_t partition : job.touched) job.outputs[static_cast<std::size_t>(partition)].clear();
  job.touched.clear();
  job.partition_of.clear();
  const bool asked =
      std::any_of(records.begin(), records.end(), [](const InputRecord& r) { return r.partition >= 0; });
  if (!asked && (options_.partition || count == 1)) {
    job.single = options_.partition.value_or(0);
    job.outputs[static_cast<std::size_t>(job.single)].offsets = static_cast<std::int64_t>(records.size());
    if (!records.empty()) job.touched.push_back(job.single);
    return;
  }
  const auto n = static_cast<std::uint32_t>(count);
  std::uint32_t sticky = static_cast<std::uint32_t>(options_.sticky_start + job.ticket);
  std::int64_t sticky_bytes = 0;
  std::uint32_t turn = sticky;
  job.partition_of.reserve(records.size());
  for (const InputRecord& record : records) {
    std::int32_t partition = 0;
    if (record.partition >= 0) {
      partition = record.partition;
    } else if (options_.partition) {
      partition = *options_.partition;
    } else if (options_.partitioner == Partitioner::round_robin) {
      partition = static_cast<std::int32_t>(turn++ % n);
    } else if (record.key_size >= 0 && options_.partitioner != Partitioner::sticky) {
      partition = partition_for_key(options_.partitioner, *text_of(record.key, record.key_size), count);
    } else {
      partition = static_cast<std::int32_t>(sticky % n);
      sticky_bytes += std::max(record.key_size, 0) + std::max(record.value_size, 0) + 8;
      if (sticky_bytes >= options_.batch_size) {
        ++sticky;
        sticky_bytes = 0;
      }
    }
    job.partition_of.push_back(partition);
    PartitionOutput& output = job.outputs[static_cast<std::size_t>(partition)];
    if (output.offsets++ == 0) job.touched.push_back(partition);
  }
}

namespace {

/// The fields of a record with what the run adds to it.
Fields fields_of(const ParsedChunk& parsed, const InputRecord& record, std::int64_t now,
                 const std::vector<HeaderView>& common, std::vector<HeaderView>& scratch) {
  Fields fields;
  fields.key = text_of(record.key, record.key_size);
  fields.value = text_of(record.value, record.value_size);
  fields.timestamp = now;
  fields.headers = common;
  if (record.extra < 0) return fields;
  const InputExtra& extra = parsed.extras[static_cast<std::size_t>(record.extra)];
  if (extra.timestamp) fields.timestamp = *extra.timestamp;
  fields.value_is_json = extra.value_is_json;
  if (extra.header_count > 0) {
    scratch.assign(parsed.headers.begin() + extra.first_header,
                   parsed.headers.begin() + extra.first_header + extra.header_count);
    scratch.insert(scratch.end(), common.begin(), common.end());
    fields.headers = scratch;
  }
  return fields;
}

std::size_t payload_bytes(const Fields& fields) {
  std::size_t bytes = (fields.key ? fields.key->size() : 0) + (fields.value ? fields.value->size() : 0);
  for (const HeaderView& header : fields.headers) {
    bytes += 10 + header.name.size() + (header.value ? header.value->size() : 0);
  }
  return bytes;
}

}  // namespace

void AppendPipeline::encode_batches(Job& job) const {
  const LogConfig& config = options_.config;
  const auto batch_limit = static_cast<std::size_t>(
      std::min({options_.batch_size, config.segment_bytes, config.max_message_bytes}));
  const bool append_time = config.timestamp_type == TimestampType::log_append_time;
  BatchFields batch;
  if (append_time) {
    batch.attribute_bits = kLogAppendTimeBit;
    batch.max_timestamp = job.now_ms;
  }
  for (const std::int32_t partition : job.touched)
    job.outputs[static_cast<std::size_t>(partition)].offsets = 0;

  auto close = [&](PartitionOutput& output, std::size_t record) {
    if (output.builder.count() == 0) return true;
    const std::size_t begin = output.bytes.size();
    const UnitInfo info = output.builder.finish(batch, options_.compression, job.compressor, output.bytes);
    if (static_cast<std::int64_t>(info.size) > config.max_message_bytes) {
      output.bytes.cut(begin);
      job.parsed.fault = {ErrorCode::message_too_large, record,
                          fmt::format("the record takes {} bytes, above max.message.bytes {}", info.size,
                                      config.max_message_bytes)};
      return false;
    }
    output.units.push_back({static_cast<std::uint32_t>(info.size), info.count, info.max_timestamp});
    output.offsets += info.count;
    output.close_border();
    return true;
  };

  const auto& records = job.parsed.records;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::int32_t partition = job.partition_of.empty() ? job.single : job.partition_of[i];
    PartitionOutput& output = job.outputs[static_cast<std::size_t>(partition)];
    const Fields fields = fields_of(job.parsed, records[i], job.now_ms, options_.headers, job.headers);
    const std::size_t bytes = payload_bytes(fields);
    if (bytes > static_cast<std::size_t>(INT32_MAX) / 2 ||
        (output.builder.count() > 0 && output.builder.size_with(bytes) > batch_limit &&
         !close(output, i - 1))) {
      if (!job.parsed.fault) {
        job.parsed.fault = {ErrorCode::message_too_large, i, "the record is larger than any batch can hold"};
      }
      break;
    }
    output.builder.add(fields.timestamp, fields.key, fields.value, fields.headers);
    if (output.builder.size() >= batch_limit && !close(output, i)) break;
  }
  if (!job.parsed.fault) {
    for (const std::int32_t partition : job.touched) {
      if (!close(job.outputs[static_cast<std::size_t>(partition)], records.size() - 1)) break;
    }
  }
}

// With a fault in the chunk this runs once before the reservation, to see which records are in batches that
// closed.
void AppendPipeline::encode_json(Job& job) const {
  const LogConfig& config = options_.config;
  const bool append_time = config.timestamp_type == TimestampType::log_append_time;
  const auto& records = job.parsed.records;
  std::vector<Offset> next(job.outputs.size());
  for (const std::int32_t partition : job.touched) {
    PartitionOutput& output = job.outputs[static_cast<std::size_t>(partition)];
    next[static_cast<std::size_t>(partition)] = output.base;
    output.bytes.clear();
    output.units.clear();
    output.borders.clear();
    output.open_bytes = 0;
    output.open_records = 0;
  }
  auto close = [](PartitionOutput& output) {
    output.close_border();
    output.borders.back().offsets = static_cast<std::int64_t>(output.units.size());
    output.open_bytes = 0;
  };
  RecordView view;
  JsonFields json;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto p = static_cast<std::size_t>(job.partition_of.empty() ? job.single : job.partition_of[i]);
    PartitionOutput& output = job.outputs[p];
    if (static_cast<std::int64_t>(output.units.size()) >= output.offsets) continue;  // cut off by a fault
    const Fields fields = fields_of(job.parsed, records[i], job.now_ms, options_.headers, job.headers);
    view.key = fields.key;
    view.value = fields.value;
    view.timestamp = append_time ? job.now_ms : fields.timestamp;
    view.headers = fields.headers;
    view.value_is_json = fields.value_is_json;
    json.leader_epoch = output.epoch;
    const std::size_t begin = output.bytes.size();
    const bool huge = payload_bytes(fields) > static_cast<std::size_t>(INT32_MAX) / 8;
    if (!huge) encode_json_record(output.bytes, next[p], view, json);
    const std::size_t size = output.bytes.size() - begin;
    if (huge || static_cast<std::int64_t>(size) > config.max_message_bytes) {
      output.bytes.cut(begin);
      if (!job.parsed.fault || job.parsed.fault->record > i) {
        job.parsed.fault = {ErrorCode::message_too_large, i,
                            fmt::format("the record takes {} bytes, above max.message.bytes {}", size,
                                        config.max_message_bytes)};
      }
      break;
    }
    ++next[p];
    output.units.push_back({static_cast<std::uint32_t>(size), 1, view.timestamp});
    output.open_bytes += size;
    if (static_cast<std::int64_t>(output.open_bytes) >= options_.batch_size) close(output);
  }
  for (const std::int32_t partition : job.touched) {
    PartitionOutput& output = job.outputs[static_cast<std::size_t>(partition)];
    if (!job.parsed.fault && output.open_bytes > 0) close(output);
    if (!job.parsed.fault) continue;
    // Only whole batches before the fault are kept.
    const PartitionOutput::Border last =
        output.borders.empty() ? PartitionOutput::Border{} : output.borders.back();
    output.bytes.cut(last.bytes);
    output.units.resize(last.units);
    output.offsets = last.offsets;
  }
}

// ---- in the order of the input
// ---------------------------------------------------------------------------------------

PartitionLog& AppendPipeline::log(std::int32_t partition) {
  auto& slot = logs_[static_cast<std::size_t>(partition)];
  if (!slot) slot = open_log_(partition);
  return *slot;
}

void AppendPipeline::reserve(Job& job) {
  for (const std::int32_t partition : job.touched) {
    const auto p = static_cast<std::size_t>(partition);
    PartitionOutput& output = job.outputs[p];
    PartitionLog& target = log(partition);
    if (!target.has_turn()) {
      // Nothing of this partition is on its way, so its end is where the log says.
      target.begin();
      next_offsets_[p] = target.log_end();
    }
    output.base = next_offsets_[p];
    output.epoch = target.leader_epoch();
    next_offsets_[p] += output.offsets;
  }
}

bool AppendPipeline::give(Job& job) {
  try {
    append_job(job);
  } catch (...) {
    failed_.store(true);
    given_.fetch_add(1);
    given_.notify_all();
    throw;
  }
  given_.fetch_add(1);
  given_.notify_all();
  return true;
}

void AppendPipeline::append_job(Job& job) {
  if (job.failure) std::rethrow_exception(job.failure);
  if (job.restart) records_before_ = 0;
  for (const std::int32_t partition : job.touched) {
    const auto p = static_cast<std::size_t>(partition);
    PartitionOutput& output = job.outputs[p];
    if (output.units.empty()) continue;
    PartitionTally& tally = tallies_[p];
    if (!tally.base_offset) tally.base_offset = output.base;
    PartitionOutput::Border before;
    for (const PartitionOutput::Border& border : output.borders) {
      AppendedBatch batch{partition, output.base + before.offsets, output.base + (border.offsets - 1),
                          border.offsets - before.offsets,
                          static_cast<std::int64_t>(border.bytes - before.bytes)};
      auto& waiting = pending_[p];
      if (options_.on_batch || waiting.empty() || waiting.back().batch.last_offset + 1 != batch.base_offset) {
        waiting.push_back({batch});
      } else {
        // Nobody asks for single batches: they are counted together.
        waiting.back().batch.last_offset = batch.last_offset;
        waiting.back().batch.count += batch.count;
        waiting.back().batch.bytes += batch.bytes;
      }
      before = border;
    }
    tally.last_offset = output.base + (output.offsets - 1);
    tally.count += output.offsets;
    tally.bytes += static_cast<std::int64_t>(output.bytes.size());
    log(partition).append(output.bytes.view(), output.units);
    note_durable(partition);
  }
  if (job.parsed.fault) refuse(job);
  records_before_ += job.parsed.records.size();
}

void AppendPipeline::note_durable(std::int32_t partition) {
  const auto p = static_cast<std::size_t>(partition);
  const Offset end = logs_[p]->durable_end();
  auto& waiting = pending_[p];
  std::size_t done = 0;
  for (; done < waiting.size(); ++done) {
    AppendedBatch& batch = waiting[done].batch;
    if (batch.last_offset < end) {
      tallies_[p].durable += batch.count;
      if (options_.on_batch) options_.on_batch(batch);
      continue;
    }
    if (batch.base_offset < end) {
      // A failure or a roll within what was counted together.
      const std::int64_t part = end - batch.base_offset;
      tallies_[p].durable += part;
      batch.count -= part;
      batch.base_offset = end;
    }
    break;
  }
  waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(done));
  if (done > 0 && options_.on_reported) options_.on_reported();
}

void AppendPipeline::refuse(const Job& job) const {
  const InputFault& fault = *job.parsed.fault;
  throw Error(fault.code, fmt::format("{} {} of {}: {}", options_.record_word,
                                      records_before_ + fault.record + 1, job.name, fault.message));
}

}  // namespace tk
