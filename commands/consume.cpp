#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <queue>

#include "commands/commands.h"
#include "commands/consume_group.h"
#include "commands/consume_plan.h"
#include "commands/consume_print.h"
#include "commands/consume_sink.h"
#include "commands/context.h"
#include "commands/damage_text.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/progress.h"
#include "core/io/output.h"
#include "core/io/watch.h"
#include "core/log/latest_keys.h"
#include "core/log/partition_follower.h"

namespace tk {
namespace {

/// Text of one chunk beyond which a worker hands on what it has: compressed chunks can unfold to a lot.
constexpr std::size_t kTextLimit = 4U << 20;
/// A chunk of this size is likely to be followed by more.
constexpr std::size_t kWorthAThread = 256U << 10;
/// Chunks are small where only a few records are wanted, or many partitions are open at once.
constexpr std::size_t kSmallChunk = 64U << 10;

struct Job {
  CursorChunk chunk;
  ConsumeSink sink;
  RecordDecoder decoder;
};

/// One run of `consume`: what was printed so far, and whether to go on.
class Consumer {
 public:
  Consumer(const ConsumeOptions& options, Context& context)
      : options_(options),
        context_(context),
        filter_(options),
        printer_(options, context),
        progress_(context, "read", kProgressMiB,
                  !options.follow && (output_is_file() || options.output == ConsumeOptions::Output::count)) {
    for (unsigned i = 0; i < job_count(); ++i) jobs_.push_back(std::make_unique<Job>());
  }

  /// Tells the progress about how much there is to read, by the share of the offsets.
  void expect(const std::vector<std::unique_ptr<PartitionPlan>>& plans);
  void read_in_turn(const std::vector<std::unique_ptr<PartitionPlan>>& plans);
  void read_by_time(const std::vector<std::unique_ptr<PartitionPlan>>& plans);
  void follow(const std::vector<std::unique_ptr<PartitionPlan>>& plans);
  void follow_committed(const Store& store, const std::vector<std::unique_ptr<PartitionPlan>>& plans);
  void follow_cluster(const std::vector<std::unique_ptr<PartitionPlan>>& plans);
  void finish();

 private:
  struct Spill;
  struct Stream;

  [[nodiscard]] bool done() const { return printer_.done(); }
  [[nodiscard]] RecordFilter filter_of(PartitionPlan& plan) const;
  void read_partition(PartitionPlan& plan);
  void read_news(const Store& store, PartitionPlan& plan);

  const ConsumeOptions& options_;
  Context& context_;
  RecordFilter filter_;
  RecordPrinter printer_;
  Progress progress_;
  std::vector<std::unique_ptr<Job>> jobs_;
  // Where each partition was left, for following.
  std::vector<std::pair<std::uint64_t, Offset>> places_;
};

/// A chunk's sink that prints what it has by itself, once it is the chunk's turn, rather than let it grow
/// without bound.
struct Consumer::Spill {
  using TakesRuns = ConsumeSink::TakesRuns;

  Consumer& consumer;
  Job& job;
  const OrderedTurn& turn;
  PartitionPlan& plan;
  bool go_on = true;

  void begin_unit(const UnitInfo& info) {
    if (job.sink.text.size() > kTextLimit && go_on) {
      go_on = turn.await() && consumer.printer_.print(job.sink, plan.skip);
      job.sink.text.clear();
      job.sink.records = 0;
      job.sink.marks.clear();
      job.sink.found.clear();
    }
    job.sink.begin_unit(info);
  }
  [[gnu::always_inline]] void record(const RecordView& record) {
    if (go_on) job.sink.record(record);
  }
  void abandon_unit() { job.sink.abandon_unit(); }
  void damage(ReadDamage&& damage) {
    if (go_on) job.sink.damage(std::move(damage));
  }
};

/// Memory for the keys of --latest-per-key; as much is taken as there are keys for.
constexpr std::size_t kLatestKeysBytes = std::size_t{8} << 30;

RecordFilter Consumer::filter_of(PartitionPlan& plan) const {
  if (!options_.latest_per_key) return filter_;
  std::uint64_t seed = 0;
  static_cast<void>(getrandom(&seed, sizeof seed, 0));
  plan.latest = std::make_unique<KeyMap>(kLatestKeysBytes, seed);
  if (plan.scope.from < plan.scope.below) find_latest_keys(context_.fs, plan.view, plan.scope, *plan.latest);
  return filter_.only_latest(*plan.latest);
}

void Consumer::read_partition(PartitionPlan& plan) {
  const RecordFilter filter = filter_of(plan);
  const RecordFormatter formatter(options_, plan.partition.topic, plan.partition.partition);
  const bool marks = printer_.needs_marks() || plan.skip > 0;
  PartitionCursor cursor(
      context_.fs, plan.view, plan.scope.from,
      options_.max_messages && *options_.max_messages < 1000 ? kSmallChunk : SegmentScanner::kDefaultChunk);
  Offset last(-1);
  if (plan.scope.from < plan.scope.below) {
    run_ordered(
        jobs_,
        [&](Job& job) {
          return !done() && last + 1 < plan.scope.below && cursor.next(job.chunk) &&
                 (last = cursor.last_offset(), true);
        },
        [&](Job& job, const OrderedTurn& turn) {
          job.sink.start(filter, formatter, marks);
          Spill spill{*this, job, turn, plan};
          walk_records(job.chunk, plan.scope, job.decoder, spill);
        },
        [&](Job& job) {
          progress_.add(job.chunk.scan.bytes.size());
          return printer_.print(job.sink, plan.skip) && !done();
        },
        [](const Job& job) { return job.chunk.scan.bytes.size() >= kWorthAThread; },
        [&](Job& job) { cursor.read_ahead(job.chunk); });
  }
  plan.latest.reset();
  places_.emplace_back(cursor.position(), std::max(cursor.last_offset(), plan.scope.from - 1));
}

void Consumer::expect(const std::vector<std::unique_ptr<PartitionPlan>>& plans) {
  if (!progress_.is_wanted() || options_.max_messages) return;
  double bytes = 0;
  for (const auto& plan : plans) {
    const auto all = static_cast<double>(plan->view.log_end - plan->view.log_start);
    const auto wanted = static_cast<double>(plan->scope.below - plan->scope.from);
    if (all > 0 && wanted > 0) bytes += static_cast<double>(plan->view.bytes()) * std::min(1.0, wanted / all);
  }
  progress_.expect(static_cast<std::uint64_t>(bytes));
}

void Consumer::read_in_turn(const std::vector<std::unique_ptr<PartitionPlan>>& plans) {
  for (const auto& plan : plans) {
    if (done()) return;
    read_partition(*plan);
  }
}

/// One partition's records for merging by time: a small chunk at a time.
struct Consumer::Stream {
  PartitionPlan& plan;
  RecordFilter filter;
  RecordFormatter formatter;
  PartitionCursor cursor;
  Job job;
  std::size_t next = 0;  // record of the chunk

  Stream(Consumer& consumer, PartitionPlan& of)
      : plan(of),
        filter(consumer.filter_of(of)),
        formatter(consumer.options_, of.partition.topic, of.partition.partition),
        cursor(consumer.context_.fs, of.view, of.scope.from, kSmallChunk) {}

  /// True if a record is at hand.
  bool fill(Consumer& consumer) {
    while (next >= job.sink.marks.size()) {
      if (!cursor.next(job.chunk)) return false;
      consumer.progress_.add(job.chunk.scan.bytes.size());
      job.sink.start(filter, formatter, true);
      walk_records(job.chunk, plan.scope, job.decoder, job.sink);
      for (const ConsumeSink::Found& found : job.sink.found) {
        consumer.printer_.report(found.damage);
      }
      next = 0;
      const auto skipped = static_cast<std::size_t>(std::min<std::int64_t>(plan.skip, job.sink.records));
      plan.skip -= static_cast<std::int64_t>(skipped);
      next = skipped;
    }
    return true;
  }
  [[nodiscard]] std::int64_t timestamp() const { return job.sink.marks[next].timestamp; }
};

void Consumer::read_by_time(const std::vector<std::unique_ptr<PartitionPlan>>& plans) {
  std::vector<std::unique_ptr<Stream>> streams;
  using Head = std::pair<std::int64_t, std::size_t>;  // timestamp, stream: equal times go by partition
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  for (const auto& plan : plans) {
    streams.push_back(std::make_unique<Stream>(*this, *plan));
    if (streams.back()->fill(*this)) heads.emplace(streams.back()->timestamp(), streams.size() - 1);
  }
  while (!heads.empty() && !done()) {
    const std::size_t i = heads.top().second;
    heads.pop();
    Stream& stream = *streams[i];
    const auto& marks = stream.job.sink.marks;
    const std::size_t from = stream.next == 0 ? 0 : marks[stream.next - 1].end;
    printer_.print_text(stream.job.sink, from, marks[stream.next].end, 1);
    ++stream.next;
    if (stream.fill(*this)) heads.emplace(stream.timestamp(), i);
  }
}

void Consumer::follow(const std::vector<std::unique_ptr<PartitionPlan>>& plans) {
  DirectoryWatch watch;
  std::vector<std::unique_ptr<PartitionFollower>> followers;
  for (std::size_t i = 0; i < plans.size() && i < places_.size(); ++i) {
    watch.add(plans[i]->view.files.directory);
    followers.push_back(std::make_unique<PartitionFollower>(context_.fs, plans[i]->view, places_[i].first,
                                                            places_[i].second));
  }
  std::int64_t quiet_since = monotonic_ms();
  bool look_for_roll = true;
  while (!done()) {
    bool news = false;
    for (std::size_t i = 0; i < followers.size() && !done(); ++i) {
      Job& job = *jobs_[0];
      const RecordFormatter formatter(options_, plans[i]->partition.topic, plans[i]->partition.partition);
      while (!done() && followers[i]->next(job.chunk, look_for_roll)) {
        news = true;
        job.sink.start(filter_, formatter, printer_.needs_marks() || plans[i]->skip > 0);
        walk_records(job.chunk, plans[i]->scope, job.decoder, job.sink);
        printer_.print(job.sink, plans[i]->skip);
      }
    }
    context_.out.flush();
    bool all_read = true;
    for (std::size_t i = 0; i < followers.size(); ++i) {
      all_read &= followers[i]->last_offset() + 1 >= plans[i]->scope.below;
    }
    if (all_read) return;
    look_for_roll = false;
    if (news) {
      quiet_since = monotonic_ms();
      continue;
    }
    std::int64_t wait = -1;
    if (options_.idle_timeout_ms) {
      wait = quiet_since + *options_.idle_timeout_ms - monotonic_ms();
      if (wait <= 0) return;
    }
    look_for_roll = watch.wait(wait) == DirectoryWatch::Event::made;
    if (context_.out.reader_gone()) return;
  }
}

// What may be read grows with every marker that closes a transaction, so each look takes the log anew.
void Consumer::follow_committed(const Store& store,
                                const std::vector<std::unique_ptr<PartitionPlan>>& plans) {
  DirectoryWatch watch;
  for (const auto& plan : plans) watch.add(plan->view.files.directory);
  std::int64_t quiet_since = monotonic_ms();
  while (!done()) {
    const std::int64_t before = printer_.printed();
    for (const auto& plan : plans) {
      if (done()) return;
      plan->scope.from = std::max(plan->scope.from, plan->scope.below);
      plan->view = store.view(plan->partition);
      plan->transactions = store.transactions(plan->partition, plan->view);
      plan->scope.below = plan->transactions.last_stable(plan->view.log_end);
      if (options_.until.kind == UntilSpec::Kind::offset)
        plan->scope.below = std::min(plan->scope.below, Offset(options_.until.value));
      read_partition(*plan);
    }
    context_.out.flush();
    std::int64_t wait = -1;
    if (printer_.printed() != before) quiet_since = monotonic_ms();
    if (options_.idle_timeout_ms) {
      wait = quiet_since + *options_.idle_timeout_ms - monotonic_ms();
      if (wait <= 0) return;
    }
    watch.wait(wait);
    if (context_.out.reader_gone()) return;
  }
}

void Consumer::read_news(const Store& store, PartitionPlan& plan) {
  const TopicInfo* topic = store.find(plan.partition.topic);
  if (topic == nullptr) static_cast<void>(store.resolve(plan.partition.topic));  // throws: it was deleted
  for (const PartitionInfo& partition : topic->partitions) {
    if (partition.partition == plan.partition.partition) plan.partition = partition;
  }
  plan.scope.from = std::max(plan.scope.from, plan.scope.below);
  look_again(store, options_, context_, plan);
  if (plan.scope.from < plan.scope.below) read_partition(plan);
  // A new leader's high watermark may be behind: nothing is read twice.
  plan.scope.below = std::max(plan.scope.below, plan.scope.from);
  places_.clear();
}

// In a cluster what may be read grows with the high watermark, and another broker may lead by now: each look
// takes the cluster anew, whose file every change replaces. While nobody leads there is nothing to read.
void Consumer::follow_cluster(const std::vector<std::unique_ptr<PartitionPlan>>& plans) {
  DirectoryWatch watch;
  watch.add(context_.directory);
  std::int64_t quiet_since = monotonic_ms();
  while (!done()) {
    const std::int64_t before = printer_.printed();
    const Store store = open_store(context_);
    for (const auto& plan : plans) {
      if (done()) return;
      try {
        read_news(store, *plan);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::leader_not_available) throw;
      }
    }
    context_.out.flush();
    if (options_.until.kind == UntilSpec::Kind::offset && std::ranges::all_of(plans, [&](const auto& plan) {
          return plan->scope.below >= Offset(options_.until.value);
        }))
      return;
    std::int64_t wait = -1;
    if (printer_.printed() != before) quiet_since = monotonic_ms();
    if (options_.idle_timeout_ms) {
      wait = quiet_since + *options_.idle_timeout_ms - monotonic_ms();
      if (wait <= 0) return;
    }
    watch.wait(wait);
    if (context_.out.reader_gone() || context_.interrupted.load() != 0) return;
  }
}

void Consumer::finish() {
  if (options_.output != ConsumeOptions::Output::count) return;
  context_.out.write(fmt::format("{}\n", printer_.printed()));
}

}  // namespace

int run_consume(const ConsumeOptions& options, Context& context) {
  if (options.group) return run_consume_group(options, context);
  const Store store = open_store(context);
  const auto plans = plan_consume(store, options, context);
  Consumer consumer(options, context);
  consumer.expect(plans);
  if (options.order == ConsumeOptions::Order::time && !options.follow) {
    consumer.read_by_time(plans);
  } else {
    consumer.read_in_turn(plans);
    // Up to a time, or to where the log ended, all is read by now.
    const bool goes_on =
        options.until.kind == UntilSpec::Kind::never || options.until.kind == UntilSpec::Kind::offset;
    if (options.follow && store.cluster() != nullptr) {
      if (goes_on) consumer.follow_cluster(plans);
    } else if (options.follow && options.isolation == Isolation::read_committed) {
      if (goes_on) consumer.follow_committed(store, plans);
    } else if (options.follow) {
      consumer.follow(plans);
    }
  }
  consumer.finish();
  return context.diagnostics.exit_code();
}

}  // namespace tk
