#include "commands/consume_sink.h"

#include "core/base/error.h"

namespace tk {

namespace {
// The polynomial matcher of the standard library: its other one recurses once a byte and would run out of
// stack on a long value.
constexpr auto kRegexFlags =
    std::regex::ECMAScript | std::regex::optimize | std::regex_constants::__polynomial;
}  // namespace

RecordFilter::RecordFilter(const ConsumeOptions& options)
    : takes_all_(!options.key && !options.grep), key_(options.key) {
  if (!options.grep) return;
  try {
    grep_.emplace(*options.grep, kRegexFlags);
  } catch (const std::regex_error& error) {
    throw Error(ErrorCode::invalid_request, "cannot use --grep '" + *options.grep + "': " + error.what())
        .hint("back references are not supported");
  }
}

RecordFilter RecordFilter::only_latest(const KeyMap& keys) const {
  RecordFilter filter = *this;
  filter.latest_ = &keys;
  filter.takes_all_ = false;
  return filter;
}

bool RecordFilter::examine(const RecordView& record) const {
  if (latest_ != nullptr &&
      (!record.key || !record.value || latest_->find(latest_->hash(*record.key)) != record.offset))
    return false;
  if (key_ && (!record.key || *record.key != *key_)) return false;
  if (!grep_) return true;
  return record.value && std::regex_search(record.value->begin(), record.value->end(), *grep_);
}

void ConsumeSink::record_any(const RecordView& record) {
  if (!filter_->takes(record)) return;
  formatter_->append(text, record);
  ++records;
  if (keep_marks_) marks.push_back({text.size(), record.timestamp, record.offset});
}

void ConsumeSink::start(const RecordFilter& filter, const RecordFormatter& formatter, bool keep_marks) {
  filter_ = &filter;
  formatter_ = &formatter;
  keep_marks_ = keep_marks;
  const std::optional<char> delimiter = formatter.only_values_before();
  values_only_ = delimiter && filter.takes_all() && !keep_marks;
  delimiter_ = static_cast<std::uint8_t>(delimiter.value_or('\0'));
  text.clear();
  records = 0;
  marks.clear();
  found.clear();
}

}  // namespace tk
