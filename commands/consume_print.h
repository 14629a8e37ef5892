// Prints what `consume` has read, up to the limit, with the damage where it lies between the records.
#pragma once

#include <cstdint>
#include <optional>

#include "commands/consume_sink.h"
#include "commands/context.h"

namespace tk {

/// How much of a sink is printed.
struct PrintPlace {
  std::size_t text = 0;
  std::int64_t records = 0;
  std::size_t damage = 0;

  [[nodiscard]] bool is_end_of(const ConsumeSink& sink) const {
    return records == sink.records && damage == sink.found.size();
  }
};

class RecordPrinter {
 public:
  /// Both must outlive it.
  RecordPrinter(const ConsumeOptions& options, Context& context)
      : options_(options), context_(context), left_(options.max_messages) {}

  /// Nothing more is to be printed: the limit is reached, damage stops the reading, a signal came, or the
  /// reader of the output has gone.
  [[nodiscard]] bool done() const;
  /// Records must be marked in the sinks, so that printing can stop after any of them.
  [[nodiscard]] bool needs_marks() const { return left_.has_value(); }
  /// Prints a chunk's records but the first `skip`, which is counted down, and reports its damage. False:
  /// done().
  bool print(const ConsumeSink& sink, std::int64_t& skip);
  /// The same from `place` on, which moves on, and at most `most` records; they are marked in the sink.
  bool print_some(const ConsumeSink& sink, PrintPlace& place, std::int64_t& skip, std::int64_t most);
  /// Prints a part of the sink's text, which are so many records. False: done().
  bool print_text(const ConsumeSink& sink, std::size_t from, std::size_t to, std::int64_t records);
  /// Reports damage; false if that stops the reading.
  bool report(const ReadDamage& damage);

  /// Records so far.
  [[nodiscard]] std::int64_t printed() const { return printed_; }
  /// Records that may still be printed; nothing: any number.
  [[nodiscard]] std::optional<std::int64_t> left() const { return left_; }

 private:
  static void skip_records(const ConsumeSink& sink, PrintPlace& place, std::int64_t& skip);

  const ConsumeOptions& options_;
  Context& context_;
  std::optional<std::int64_t> left_;
  std::int64_t printed_ = 0;
  bool stopped_ = false;
};

}  // namespace tk
