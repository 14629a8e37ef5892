#include "commands/import_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/dump_reader.h"
#include "commands/import_log.h"
#include "commands/import_unit.h"
#include "commands/produce_options.h"
#include "commands/produce_report.h"
#include "core/io/line_input.h"
#include "core/io/output.h"

namespace tk {
namespace {

/// A longer line cannot be a record that may be stored.
constexpr std::size_t kMostLine = 2 * kMaxDecompressed;
/// Batches without their records that are held back until a record shows that the dump has any.
constexpr std::size_t kMostWithheld = 100000;
/// Batches reported one by one that may wait to become durable before they are forced.
constexpr std::size_t kMostPending = 100000;

class Import {
 public:
  Import(Store& store, const ProduceOptions& options, Context& context)
      : options_(options), context_(context), to_(store, options, context) {}

  void run() {
    try {
      read_all();
      if (context_.interrupted.load() == 0) {
        end_unit();
        require_records();
      }
    } catch (const Error& error) {
      stop(error);
    }
    close();
    report();
  }

 private:
  struct Unit {
    std::vector<std::uint8_t> bytes;
    UnitInfo info;
  };

  // ---- input
  // ---------------------------------------------------------------------------------------------------------

  void read_all() {
    const std::vector<std::string> files =
        options_.files.empty() ? std::vector<std::string>{"-"} : options_.files;
    for (const std::string& path : files) {
      Descriptor file;
      name_ = path == "-" ? "standard input" : path;
      if (path != "-") file = open_input(path);
      line_ = 0;
      ChunkOptions chunks;
      chunks.max_record = kMostLine;
      ChunkReader reader(path == "-" ? 0 : file.get(), name_, chunks);
      InputChunk chunk;
      for (;;) {
        if (context_.interrupted.load() != 0) return;
        const Got got = reader.next(chunk);
        if (got == Got::end) break;
        if (got == Got::chunk && !take_lines(as_text(chunk.bytes()))) return;
      }
    }
  }

  bool take_lines(std::string_view text) {
    while (!text.empty()) {
      if (context_.interrupted.load() != 0) return false;
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      take_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return true;
  }

  [[nodiscard]] std::string place() const { return fmt::format("line {} of {}", line_, name_); }
  void refuse(const std::string& why) const {
    throw Error(ErrorCode::invalid_record, fmt::format("{}: {}", place(), why));
  }
  void refuse_if(const std::string& fault) const {
    if (!fault.empty()) refuse(fault);
  }

  void take_line(std::string_view line) {
    switch (reader_.read(line)) {
      case DumpReader::Kind::batch:
        end_unit();
        return begin_unit(reader_.batch());
      case DumpReader::Kind::record:
        if (of_snapshot_) return;
        if (damaged_) refuse("a record of a batch that was damaged when it was dumped");
        if (!begun_) refuse("a record before any batch");
        seen_records_ = true;
        return refuse_if(unit_.add(reader_.record()));
      case DumpReader::Kind::damage:
        return context_.diagnostics.warning(fmt::format(
            "{}: damage that was found when the log was dumped; nothing stands for it here", place()));
      case DumpReader::Kind::other:
        return;
      case DumpReader::Kind::faulty:
        refuse(reader_.fault());
    }
  }

  // ---- units
  // ---------------------------------------------------------------------------------------------------------

  void begin_unit(const DumpBatch& batch) {
    of_snapshot_ = batch.of_snapshot;
    if (of_snapshot_) {
      if (!std::exchange(told_of_snapshot_, true))
        context_.diagnostics.note(
            fmt::format("{}: batches of a KRaft snapshot are left out: they are none of a log", place()));
      return;
    }
    damaged_ = batch.valid == false;
    if (damaged_) {
      context_.diagnostics.warning(
          fmt::format("{}: a batch that was damaged when it was dumped is left out", place()));
      return;
    }
    refuse_if(unit_.begin(batch));
    if (!format_) {
      refuse_if(to_.format_fault(unit_.format()));
      format_ = unit_.format();
    }
    if (unit_.format() != *format_) refuse("kafka batches and json records in one dump");
    if (next_ && unit_.first() < *next_) {
      refuse(fmt::format("offset {} does not rise above the batch before, which ends at {}",
                         unit_.first().value(), (*next_ - 1).value()));
    }
    next_ = unit_.last() + 1;
    begun_ = true;
  }

  // A dump without records looks just like one whose records a script has taken out; only in the latter case
  // some are left elsewhere.
  void end_unit() {
    if (!std::exchange(begun_, false)) return;
    refuse_if(unit_.check());
    const bool stored = unit_.finish();
    if (unit_.count() == 0 && unit_.dumped_count() > 0 && !seen_records_) {
      lacking_records_ = true;
      if (withheld_.size() == kMostWithheld) require_records();
      if (stored) withheld_.push_back({{unit_.bytes().begin(), unit_.bytes().end()}, unit_.info()});
      return;
    }
    if (!withheld_.empty() && seen_records_) {
      for (const Unit& unit : withheld_) append(unit.bytes, unit.info, 0);
      withheld_ = {};
    }
    if (!stored) return;
    if (!withheld_.empty()) {
      // An empty batch among those that lack their records.
      withheld_.push_back({{unit_.bytes().begin(), unit_.bytes().end()}, unit_.info()});
      return;
    }
    append(unit_.bytes(), unit_.info(), unit_.count());
  }

  void require_records() const {
    if (!lacking_records_ || seen_records_) return;
    throw Error(ErrorCode::invalid_record, fmt::format("{} has batches but no records", name_))
        .hint("dump with 'tk dump-log --json --print-data-log'");
  }

  void append(ByteView bytes, const UnitInfo& info, std::int64_t count) {
    if (!to_.is_open()) to_.open(*format_, info.base_offset);
    PartitionLog& log = to_.log();
    const std::optional<LeaderEpoch> epoch =
        info.leader_epoch.value() >= 0 ? std::optional(info.leader_epoch) : std::nullopt;
    log.append_at(info, epoch, bytes);

    if (total_.count == 0 && total_.bytes == 0) total_.base_offset = info.base_offset;
    total_.last_offset = info.last_offset;
    total_.count += count;
    total_.bytes += static_cast<std::int64_t>(bytes.size());
    if (options_.report != ProduceOptions::Report::batch) return;
    pending_.push_back({to_.partition().value(), info.base_offset, info.last_offset, count,
                        static_cast<std::int64_t>(bytes.size())});
    if (pending_.size() >= kMostPending) log.sync();
    report_durable();
  }

  // ---- the end
  // -------------------------------------------------------------------------------------------------------

  void close() {
    if (!to_.is_open()) {
      if (context_.interrupted.load() == 0)
        context_.diagnostics.note("the input holds no batch: nothing is imported");
      return;
    }
    to_.log().close();
  }

  /// Settles what was appended before `error` and throws it on, with how far the import came.
  [[noreturn]] void stop(const Error& error) {
    if (!to_.is_open()) throw error;
    try {
      to_.log().settle();
      to_.log().close();
      report();
    } catch (const Error&) {
      // The first error is the one that counts.
    }
    Error told(error.code(), fmt::format("{}; {} holds what was before it, {} record{}", error.message(),
                                         to_.name(), total_.count, total_.count == 1 ? "" : "s"));
    if (error.position()) {
      told = std::move(told).at(error.path(), *error.position());
    } else {
      told = std::move(told).at(error.path());
    }
    throw std::move(told).hint(
        error.hint().empty() ? "an import cannot go on where it stopped: begin anew in an empty partition"
                             : error.hint());
  }

  void report_durable() {
    bool any = false;
    const bool at_once = options_.sync == SyncMode::none;
    while (!pending_.empty() && (at_once || pending_.front().last_offset < to_.log().durable_end())) {
      report_appended(context_, to_.topic(), pending_.front());
      pending_.pop_front();
      any = true;
    }
    if (any) context_.out.flush();
  }

  void report() {
    if (options_.report == ProduceOptions::Report::batch) {
      if (to_.is_open()) report_durable();
    } else if (total_.bytes > 0) {
      total_.partition = to_.partition().value();
      report_appended(context_, to_.topic(), total_);
    }
  }

  const ProduceOptions& options_;
  Context& context_;
  ImportLog to_;

  std::string name_;       // of the input
  std::int64_t line_ = 0;  // of it, from 1
  DumpReader reader_;
  UnitRebuilder unit_;
  bool begun_ = false;
  bool damaged_ = false;
  std::optional<TopicFormat> format_;
  std::optional<Offset> next_;
  bool of_snapshot_ = false;
  bool told_of_snapshot_ = false;

  bool seen_records_ = false;
  bool lacking_records_ = false;
  std::vector<Unit> withheld_;

  AppendedBatch total_;
  std::deque<AppendedBatch> pending_;
};

}  // namespace

int import_dump(Store& store, const ProduceOptions& options, Context& context) {
  Import(store, options, context).run();
  return 0;
}

}  // namespace tk
