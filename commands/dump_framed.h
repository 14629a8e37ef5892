// Records whose values stand in a frame of three numbers: those of the metadata log and of
// `__remote_log_metadata` (kafka-on-disk.md §13.4.1), in the words of kafka-dump-log's decoders.
#pragma once

#include <string>
#include <string_view>

#include "commands/dump_decoder.h"
#include "core/format/internal_record.h"

namespace tk {

/// Whether the records of this decoder have such a frame.
inline bool is_framed(DumpDecoder decoder) {
  return decoder == DumpDecoder::metadata || decoder == DumpDecoder::remote;
}

/// The family of schemas that its records are of.
inline std::string_view framed_family(DumpDecoder decoder) {
  return decoder == DumpDecoder::remote ? "log" : "metadata";
}

/// {"type":"TOPIC_RECORD","version":0,"data":{...}} of a decoded record.
std::string framed_json(const InternalRecord& record);

/// As the tool has it: never a key; of what cannot be decoded its complaint, word for word but for a version
/// that is not known here.
DecodedRecord framed_text(DumpDecoder decoder, const RecordView& record);

/// A record of `__remote_log_metadata` as the classes that Kafka reads it into print themselves.
struct RemoteText {
  std::string text;
  /// Not empty: they do not take such values, and the tool says this instead.
  std::string complaint;
};
RemoteText remote_text(const InternalRecord& record);

}  // namespace tk
