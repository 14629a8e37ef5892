// How `consume` prints a record: text, a format string, or NDJSON (cli.md §4).
#pragma once

#include <string>

#include "commands/consume_options.h"
#include "core/base/buffer.h"
#include "core/base/short_copy.h"
#include "core/format/record.h"

namespace tk {

/// Prints records of one partition into a buffer. Knows nothing of where they come from.
class RecordFormatter {
 public:
  RecordFormatter(const ConsumeOptions& options, std::string topic, PartitionId partition);

  void append(Buffer& out, const RecordView& record) const {
    if (!values_only_ || !record.value) return append_other(out, record);
    // A value and a byte behind it: what is printed mostly, and by the million.
    const std::size_t size = record.value->size();
    std::uint8_t* const to = out.room(size + 1);
    copy_short(to, record.value->data(), size);
    to[size] = static_cast<std::uint8_t>(options_.delimiter[0]);
    out.commit(size + 1);
  }

 private:
  void append_other(Buffer& out, const RecordView& record) const;
  void append_text(Buffer& out, const RecordView& record) const;
  void append_format(Buffer& out, const RecordView& record) const;
  void append_json(Buffer& out, const RecordView& record) const;

  const ConsumeOptions& options_;
  bool values_only_;  // each with a delimiter of one byte
  std::string topic_;
  PartitionId partition_;
  std::string json_start_;  // {"topic":"t","partition":0,"offset":
};

}  // namespace tk
