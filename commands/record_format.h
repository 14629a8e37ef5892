// How `consume` prints a record: text, a format string, or NDJSON (cli.md §4).
#pragma once

#include <optional>
#include <string>

#include "commands/consume_options.h"
#include "core/base/buffer.h"
#include "core/format/record.h"
#include "core/log/record_json.h"

namespace tk {

/// Prints records of one partition into a buffer. Knows nothing of where they come from.
class RecordFormatter {
 public:
  RecordFormatter(const ConsumeOptions& options, std::string topic, PartitionId partition);

  void append(Buffer& out, const RecordView& record) const;

  /// The byte behind each record, if a record with a value is printed as just this value and one byte.
  [[nodiscard]] std::optional<char> only_values_before() const {
    if (!values_only_) return std::nullopt;
    return options_.delimiter[0];
  }

 private:
  void append_text(Buffer& out, const RecordView& record) const;
  void append_format(Buffer& out, const RecordView& record) const;

  const ConsumeOptions& options_;
  bool values_only_;  // each with a delimiter of one byte
  std::string topic_;
  PartitionId partition_;
  RecordJson json_;
};

}  // namespace tk
