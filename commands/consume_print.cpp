#include "commands/consume_print.h"

#include <algorithm>
#include <utility>

#include "commands/damage_text.h"
#include "commands/diagnostics.h"
#include "core/io/output.h"

namespace tk {

bool RecordPrinter::done() const {
  return stopped_ || (left_ && *left_ <= 0) || context_.interrupted.load() != 0 || context_.out.closed();
}

void RecordPrinter::skip_records(const ConsumeSink& sink, PrintPlace& place, std::int64_t& skip) {
  const std::int64_t skipped = std::min(skip, sink.records - place.records);
  if (skipped == 0) return;
  skip -= skipped;
  place.records += skipped;
  place.text = sink.marks[static_cast<std::size_t>(place.records) - 1].end;
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

bool RecordPrinter::print(const ConsumeSink& sink, std::int64_t& skip) {
  PrintPlace place;
  return print_some(sink, place, skip, INT64_MAX);
}

// Prints records up to the limit, and reports damage where it lies between them.
bool RecordPrinter::print_some(const ConsumeSink& sink, PrintPlace& place, std::int64_t& skip,
                               std::int64_t most) {
  skip_records(sink, place, skip);
  for (;;) {
    const bool at_damage = place.damage < sink.found.size();
    std::size_t to = at_damage ? sink.found[place.damage].text_before : sink.text.size();
    std::int64_t to_record = at_damage ? sink.found[place.damage].records_before : sink.records;
    const std::int64_t limit = std::min(most, left_.value_or(INT64_MAX));
    const bool cut = to_record - place.records > limit;
    if (cut) {
      to_record = place.records + limit;
      to = to_record == 0 ? 0 : sink.marks[static_cast<std::size_t>(to_record) - 1].end;
    }
    const std::int64_t count = to_record - place.records;
    if (to > place.text || count > 0) {
      const std::size_t from = std::exchange(place.text, to);
      place.records = to_record;
      most -= count;
      if (!print_text(sink, from, to, count)) return false;
    }
    if (cut || !at_damage) return true;
    if (!report(sink.found[place.damage++].damage)) return false;
  }
}

}  // namespace tk
