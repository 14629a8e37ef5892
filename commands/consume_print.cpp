#include "commands/consume_print.h"

#include <algorithm>

#include "commands/damage_text.h"
#include "commands/diagnostics.h"
#include "core/io/output.h"

namespace tk {

bool RecordPrinter::done() const {
  return stopped_ || (left_ && *left_ <= 0) || context_.interrupted.load() != 0 || context_.out.closed();
}

// How much text the records to leave out take.
std::size_t RecordPrinter::skip_records(const ConsumeSink& sink, std::int64_t& skip, std::int64_t& skipped) {
  skipped = std::min(skip, sink.records);
  skip -= skipped;
  if (skipped == 0) return 0;
  return sink.marks[static_cast<std::size_t>(skipped) - 1].end;
}

bool RecordPrinter::print_text(const ConsumeSink& sink, std::size_t from, std::size_t to,
                               std::int64_t records) {
  context_.out.write({reinterpret_cast<const char*>(sink.text.data()) + from, to - from});
  printed_ += records;
  if (left_) *left_ -= records;
  return !done();
}

bool RecordPrinter::report(const ReadDamage& damage) {
  context_.diagnostics.error(damage_error(damage));
  stopped_ = options_.on_damage == ConsumeOptions::OnDamage::stop;
  return !stopped_;
}

// Prints a chunk's records up to the limit, and reports its damage where it lies between them.
bool RecordPrinter::print(const ConsumeSink& sink, std::int64_t& skip) {
  std::int64_t from_record = 0;
  std::size_t from = skip_records(sink, skip, from_record);
  std::size_t reported = 0;
  for (;;) {
    const bool at_damage = reported < sink.found.size();
    std::size_t to = at_damage ? sink.found[reported].text_before : sink.text.size();
    std::int64_t to_record = at_damage ? sink.found[reported].records_before : sink.records;
    if (left_ && to_record - from_record > *left_) {
      to_record = from_record + *left_;
      to = to_record == 0 ? 0 : sink.marks[static_cast<std::size_t>(to_record) - 1].end;
    }
    if (to > from || to_record > from_record) {
      if (!print_text(sink, from, to, to_record - from_record)) return false;
      from = to;
      from_record = to_record;
    }
    if (!at_damage) return true;
    if (!report(sink.found[reported++].damage)) return false;
  }
}

}  // namespace tk
