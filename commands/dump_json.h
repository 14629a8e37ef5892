// The NDJSON objects of `tk dump-log --json` (cli.md §5). `produce -i dump` rebuilds a log from them, so a
// batch carries all of its header and a record all of its bytes.
#pragma once

#include <optional>
#include <string_view>

#include "commands/dump_decoder.h"
#include "core/base/text.h"
#include "core/format/fault.h"
#include "core/format/json_record.h"
#include "core/format/unit.h"

namespace tk {

/// What the header of a unit does not say.
struct BatchObject {
  std::string_view file;
  std::uint64_t position = 0;
  /// Size and checksum are right.
  bool valid = false;
  /// Of a legacy wrapper, once its messages were read: without these, its first offset and count are null.
  std::optional<Offset> first_offset;
  std::optional<std::int64_t> count;
};

/// {"type":"batch",...}; a json unit is a batch of one record with a null magic.
void append_batch_object(TextBuffer& to, const UnitInfo& info, const BatchObject& batch);

/// {"type":"record",...}. `create_ts` is what the producer stamped, where the broker's time took its place.
/// With a decoder also what key and value mean.
void append_record_object(TextBuffer& to, const RecordView& record,
                          std::optional<std::int64_t> create_ts = {},
                          DumpDecoder decoder = DumpDecoder::none);
/// A record of a control batch: its bytes as key_b64 and value_b64, and what they mean as "control". A fault
/// (kind `record`) if they mean nothing; "control" is null then.
Fault append_control_object(TextBuffer& to, const RecordView& record,
                            std::optional<std::int64_t> create_ts = {});
/// An end of a transaction in the json format, which has neither key nor value.
void append_json_control_object(TextBuffer& to, const RecordView& record, JsonControl control);

/// {"type":"damage",...}.
void append_damage_object(TextBuffer& to, std::string_view file, std::uint64_t position, std::uint64_t size,
                          const Fault& fault);

}  // namespace tk
