#include "core/log/append_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/log/producer_admission.h"

namespace tk {

namespace {

/// Input of this size is likely to be followed by more.
constexpr std::size_t kWorthAThread = 256U << 10;

/// How often the holder of a partition looks whether another writer stands in line.
constexpr std::int64_t kLookEveryMs = 1000;

}  // namespace

struct AppendPipeline::Job : EncodedChunk {
  InputChunk chunk;
  std::string name;
  bool restart = false;
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
      encoder_(options_),
      logs_(static_cast<std::size_t>(partitions)),
      next_offsets_(static_cast<std::size_t>(partitions)),
      tallies_(static_cast<std::size_t>(partitions)),
      pending_(static_cast<std::size_t>(partitions)),
      own_count_(std::vector<std::int64_t>(static_cast<std::size_t>(partitions))),
      next_sequence_(static_cast<std::size_t>(partitions)),
      records_before_(options_.records_before) {
  static_cast<void>(own_count_.number(options_.numbered_before));
  few_open_ = partitions > options_.most_open && !options_.partition && !options_.producer;
}

AppendPipeline::~AppendPipeline() = default;

void AppendPipeline::run() {
  std::vector<std::unique_ptr<Job>> jobs;
  for (unsigned i = 0; i < job_count(); ++i) {
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
      wait_until_idle();  // the logs belong to whoever gives
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

namespace {

/// A worker's place in line at a gate: whatever happens, those behind it must get their turn.
class GatePass {
 public:
  GatePass(TurnGate& gate, std::uint64_t ticket) : gate_(gate), ticket_(ticket) {}
  ~GatePass() { pass(); }
  GatePass(const GatePass&) = delete;
  GatePass& operator=(const GatePass&) = delete;
  void wait() const { gate_.wait_for(ticket_); }
  void pass() {
    if (passed_) return;
    passed_ = true;
    gate_.wait_for(ticket_);
    gate_.pass();
  }

 private:
  TurnGate& gate_;
  std::uint64_t ticket_;
  bool passed_ = false;
};

}  // namespace

void AppendPipeline::work(Job& job) {
  job.parsed.clear();
  if (options_.producer) return work_for_producer(job);
  if (options_.format == TopicFormat::kafka) {
    // The base offsets lie outside the checksums: they are filled in when the job is given.
    source_.parse(job.chunk, job.parsed);
    encoder_.route(job);
    encoder_.encode_batches(job);
    return;
  }
  if (few_open_) {
    source_.parse(job.chunk, job.parsed);
    encoder_.route(job);
    return;
  }
  GatePass turn(reserve_gate_, job.ticket);
  source_.parse(job.chunk, job.parsed);
  encoder_.route(job);
  if (job.parsed.fault) encoder_.encode_json(job);  // finds where the last batch closes
  turn.wait();
  reserve(job);
  turn.pass();
  encoder_.encode_json(job);
}

// A sequence lies inside a batch's checksum, too, so in both formats the chunk is counted before it is
// encoded. If it turns out to have a fault then, what is behind it is never given.
void AppendPipeline::work_for_producer(Job& job) {
  GatePass numbering(number_gate_, job.ticket);
  GatePass turn(reserve_gate_, job.ticket);
  source_.parse(job.chunk, job.parsed);
  numbering.wait();
  job.first_record =
      (options_.count != nullptr ? *options_.count : own_count_).number(job.parsed.records.size());
  numbering.pass();
  encoder_.route(job);
  turn.wait();
  reserve_for_producer(job);
  turn.pass();
  if (options_.format == TopicFormat::kafka) {
    encoder_.encode_batches(job);
  } else {
    encoder_.encode_json(job);
  }
}

// ---- in the order of the input
// ---------------------------------------------------------------------------------------

PartitionLog& AppendPipeline::log(std::int32_t partition) {
  auto& slot = logs_[static_cast<std::size_t>(partition)];
  if (!slot) {
    slot = open_log_(partition);
    ++open_;
  }
  return *slot;
}

// Closes all that are open if so many more are too many.
void AppendPipeline::make_room(std::size_t partitions) {
  if (open_ + static_cast<std::int64_t>(partitions) <= options_.most_open) return;
  close_all();
  for (auto& log : logs_) log.reset();
  open_ = 0;
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

void AppendPipeline::take_turn_for_producer(std::int32_t partition, const PartitionOutput& output) {
  const auto p = static_cast<std::size_t>(partition);
  PartitionLog& target = log(partition);
  if (target.has_turn()) return;
  target.begin();
  next_offsets_[p] = target.log_end();
  if (options_.on_turn) options_.on_turn();
  const std::int32_t next =
      next_sequence(target.producers(), options_.producer->id, options_.producer->epoch).value_or(0);
  next_sequence_[p] = next;
  if (options_.count == nullptr || next == output.base_sequence) return;
  throw Error(ErrorCode::out_of_order_sequence_number,
              fmt::format("the log expects sequence {} of the producer, and the input has come to {}", next,
                          output.base_sequence))
      .at(target.directory())
      .hint("the log has changed since this run began: run it again");
}

void AppendPipeline::reserve_for_producer(Job& job) {
  (options_.count != nullptr ? *options_.count : own_count_).take(job);
  if (options_.count != nullptr && options_.check) {
    show_last_skipped(
        encoder_, job, [&](std::int32_t partition) { return options_.count->ends_in(job, partition); },
        options_.check);
  }
  for (const std::int32_t partition : job.touched) {
    const auto p = static_cast<std::size_t>(partition);
    PartitionOutput& output = job.outputs[p];
    output.offsets -= output.skip;
    if (output.offsets == 0) continue;
    take_turn_for_producer(partition, output);
    output.base = next_offsets_[p];
    output.epoch = log(partition).leader_epoch();
    output.base_sequence = next_sequence_[p];
    next_offsets_[p] += output.offsets;
    next_sequence_[p] = sequence_after(output.base_sequence, static_cast<std::int32_t>(output.offsets));
  }
}

void AppendPipeline::assign_offsets(Job& job) {
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
  if (few_open_) {
    append_in_groups(job);
  } else {
    if (options_.format == TopicFormat::kafka) {
      if (!options_.producer) reserve(job);
      assign_offsets(job);
    }
    append_outputs(job);
  }
  if (job.parsed.fault) refuse(job);
  records_before_ += job.parsed.records.size();
}

// Each group is reserved, encoded and appended before the next. Of a partition that has no records left to
// encode the encoder passes by what the chunk has.
void AppendPipeline::append_in_groups(Job& job) {
  const bool json = options_.format == TopicFormat::json;
  if (json) encoder_.encode_json(job);  // finds what a fault leaves, before anything is appended
  std::vector<std::int64_t> counts;
  for (const std::int32_t partition : job.touched) {
    std::int64_t& offsets = job.outputs[static_cast<std::size_t>(partition)].offsets;
    counts.push_back(json ? std::exchange(offsets, 0) : offsets);
  }
  const std::vector<std::int32_t> touched = std::move(job.touched);
  for (std::size_t at = 0; at < touched.size(); at += job.touched.size()) {
    const std::size_t size = std::min(
        touched.size() - at, static_cast<std::size_t>(std::max<std::int64_t>(options_.most_open, 1)));
    const auto first = touched.begin() + static_cast<std::ptrdiff_t>(at);
    job.touched.assign(first, first + static_cast<std::ptrdiff_t>(size));
    for (std::size_t i = 0; i < size; ++i)
      job.outputs[static_cast<std::size_t>(job.touched[i])].offsets = counts[at + i];
    make_room(size);
    reserve(job);
    json ? encoder_.encode_json(job) : assign_offsets(job);
    append_outputs(job);
    for (const std::int32_t partition : job.touched)
      job.outputs[static_cast<std::size_t>(partition)].offsets = 0;
  }
  job.touched = touched;
}

void AppendPipeline::append_outputs(Job& job) {
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
    if (options_.producer) {
      const ProducerFields fields{options_.producer->id, options_.producer->epoch, output.base_sequence,
                                  options_.producer->transactional};
      log(partition).append(output.bytes.view(), output.units, &fields);
      if (options_.on_held)
        options_.on_held(partition, log(partition), output.last_skipped + 1 + output.offsets);
    } else {
      log(partition).append(output.bytes.view(), output.units);
    }
    note_durable(partition);
  }
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
