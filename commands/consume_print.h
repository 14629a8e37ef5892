// Prints what `consume` has read, up to the limit, with the damage where it lies between the records.
#pragma once

#include <cstdint>
#include <optional>

#include "commands/consume_sink.h"
#include "commands/context.h"

namespace tk {

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
  /// Prints a part of the sink's text, which are so many records. False: done().
  bool print_text(const ConsumeSink& sink, std::size_t from, std::size_t to, std::int64_t records);
  /// Reports damage; false if that stops the reading.
  bool report(const ReadDamage& damage);

  /// Records so far.
  [[nodiscard]] std::int64_t printed() const { return printed_; }
  /// Records that may still be printed; nothing: any number.
  [[nodiscard]] std::optional<std::int64_t> left() const { return left_; }

 private:
  static std::size_t skip_records(const ConsumeSink& sink, std::int64_t& skip, std::int64_t& skipped);

  const ConsumeOptions& options_;
  Context& context_;
  std::optional<std::int64_t> left_;
  std::int64_t printed_ = 0;
  bool stopped_ = false;
};

}  // namespace tk
