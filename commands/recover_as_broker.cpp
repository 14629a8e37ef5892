#include "commands/recover_as_broker.h"

#include <fmt/format.h>

#include <map>
#include <memory>

#include "commands/diagnostics.h"
#include "commands/progress.h"
#include "commands/targets.h"
#include "core/base/error.h"
#include "core/base/json_writer.h"
#include "core/base/ordered_workers.h"
#include "core/base/text.h"
#include "core/io/output.h"
#include "core/store/broker_directory.h"

namespace tk {
namespace {

/// One start of one partition.
struct Job {
  std::string partition;
  const BrokerDirectory* directory = nullptr;
  bool marker = false;
  std::optional<BrokerStart> start;
  std::optional<Error> error;
};

template <class Range, class Text>
std::string json_list(const Range& range, Text&& text) {
  std::string list = "[";
  for (const auto& it : range) {
    if (list.size() > 1) list += ',';
    list += text(it);
  }
  return list + "]";
}

std::string quoted(const std::string& name) {
  TextBuffer text;
  append_json_string(text, printable(name, name.size() * 4));
  return {text.data(), text.size()};
}

void print_json(const Job& job, const BrokerStart& start, Context& context) {
  TextBuffer text;
  JsonLine line(text);
  const auto number = [](Offset offset) { return std::to_string(offset.value()); };
  line.text("partition", base_name(job.partition)).boolean("marker", job.marker);
  line.boolean("starts", start.starts);
  line.number_or_null("log_end_offset", start.log_end ? std::optional(start.log_end->value()) : std::nullopt);
  line.number("cut_bytes", static_cast<std::int64_t>(start.cut_bytes));
  line.raw("deleted_segments", json_list(start.deleted, number));
  line.raw("rebuilt", json_list(start.rebuilt, quoted));
  if (start.stray) {
    line.boolean("stray", *start.stray);
  } else {
    line.null("stray");
  }
  line.text_or_null("reason", start.reason.empty() ? std::optional<std::string_view>()
                                                   : std::optional<std::string_view>(start.reason));
  line.number_or_null("log_start_offset",
                      start.log_end ? std::optional(start.log_start.value()) : std::nullopt);
  line.raw("removed", json_list(start.removed, quoted));
  line.raw("promoted", json_list(start.promoted, quoted));
  line.raw("segments", json_list(start.segments, [](const BrokerStart::Segment& segment) {
             return fmt::format("[{},{}]", segment.base.value(), segment.bytes);
           }));
  line.end();
  context.out.write({text.data(), text.size()});
}

std::string text_of(const Job& job, const BrokerStart& start) {
  std::string text = fmt::format("{} ({} the clean-shutdown marker): ", base_name(job.partition),
                                 job.marker ? "with" : "without");
  if (!start.starts) return text + "the broker does not start: " + start.reason;
  text += fmt::format("log end {}", start.log_end->value());
  if (start.log_start > Offset(0)) text += fmt::format(", log start {}", start.log_start.value());
  if (start.cut_bytes > 0) text += fmt::format(", {} bytes go", start.cut_bytes);
  if (!start.deleted.empty()) {
    text += ", segments removed:";
    for (const Offset base : start.deleted) text += fmt::format(" {}", base.value());
  }
  if (!start.promoted.empty())
    text += fmt::format(", {} .swap files take their place", start.promoted.size());
  if (!start.removed.empty()) text += fmt::format(", {} left-over files removed", start.removed.size());
  if (!start.rebuilt.empty()) text += fmt::format(", {} index files made anew", start.rebuilt.size());
  if (!start.reason.empty()) text += ": " + start.reason;
  return text;
}

class StartReport {
 public:
  explicit StartReport(Context& context) : context_(context), progress_(context, "looked at") {}

  void run(const std::vector<std::string>& partitions);
  int finish();

 private:
  const BrokerDirectory& directory_of(const std::string& partition);
  void add(const std::string& partition);
  void work(Job& job) const;
  bool give(Job& job);

  Context& context_;
  Progress progress_;
  std::map<std::string, BrokerDirectory> directories_;
  std::vector<Job> todo_;
  std::uint64_t bytes_ = 0;
  std::uint64_t refused_ = 0, losing_ = 0;
};

const BrokerDirectory& StartReport::directory_of(const std::string& partition) {
  const std::string directory = parent_path(partition);
  const auto known = directories_.find(directory);
  if (known != directories_.end()) return known->second;
  BrokerDirectory found;
  try {
    found = read_broker_directory(context_.fs, directory);
  } catch (const Error& error) {
    context_.diagnostics.error(error);
  }
  if (!found.is_broker)
    context_.diagnostics.warning(
        fmt::format("{}: not a broker's log directory: taken as one without recovery points", directory));
  return directories_.emplace(directory, std::move(found)).first->second;
}

void StartReport::add(const std::string& partition) {
  const BrokerDirectory& directory = directory_of(partition);
  if (directory.has_marker) todo_.push_back({partition, &directory, true, {}, {}});
  todo_.push_back({partition, &directory, false, {}, {}});
}

void StartReport::work(Job& job) const {
  try {
    const BrokerStartSettings settings =
        broker_start_settings(context_.fs, *job.directory, job.partition, job.marker);
    job.start = plan_broker_start(context_.fs, job.partition, settings);
    if (!job.directory->refusal) return;
    job.start->starts = false;
    job.start->log_end.reset();
    job.start->reason = *job.directory->refusal;
  } catch (const Error& error) {
    job.error = error;
  }
}

bool StartReport::give(Job& job) {
  if (job.error) {
    context_.diagnostics.error(*job.error);
    return true;
  }
  const BrokerStart& start = *job.start;
  if (!start.starts) ++refused_;
  if (start.starts && (start.cut_bytes > 0 || start.stray == true)) ++losing_;
  for (const BrokerStart::Segment& segment : start.segments) bytes_ += segment.bytes;
  progress_.update(bytes_);
  if (context_.json) {
    print_json(job, start, context_);
  } else {
    context_.out.write(printable(text_of(job, start), 16384) + "\n");
  }
  return !context_.out.closed() && context_.interrupted.load() == 0;
}

void StartReport::run(const std::vector<std::string>& partitions) {
  for (const std::string& partition : partitions) add(partition);
  if (progress_.is_wanted()) {
    std::uint64_t total = 0;
    for (const Job& job : todo_) total += log_bytes(context_.fs, job.partition);
    progress_.expect(total);
  }
  std::vector<std::unique_ptr<Job>> jobs;
  for (unsigned i = 0; i < job_count(); ++i) jobs.push_back(std::make_unique<Job>());
  std::size_t next = 0;
  run_ordered(
      jobs,
      [&](Job& job) {
        if (next == todo_.size()) return false;
        job = std::move(todo_[next++]);
        return true;
      },
      [&](Job& job) { work(job); }, [&](Job& job) { return give(job); }, [](const Job&) { return true; });
}

int StartReport::finish() {
  if (refused_ + losing_ > 0) {
    context_.diagnostics.error(Error(ErrorCode::corrupt_message,
                                     fmt::format("a start would fail for {} and lose something in {} of what "
                                                 "is listed",
                                                 refused_, losing_))
                                   .hint("'tk recover --salvage --dry-run' says what can be kept"));
  }
  return context_.diagnostics.exit_code();
}

}  // namespace

int report_broker_start(const std::vector<std::string>& partitions, Context& context) {
  StartReport report(context);
  report.run(partitions);
  return report.finish();
}

}  // namespace tk
