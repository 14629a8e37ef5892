// Records of Kafka's internal topics in words (kafka-on-disk.md §13, §15.4): as kafka-dump-log's decoders
// print them, and as JSON that loses nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/format/record.h"

namespace tk {

/// In the order in which the tool prefers them where several are asked for.
enum class DumpDecoder : std::uint8_t { none, offsets, transactions, metadata, remote, share };

/// The decoder of a topic's records, by its name.
DumpDecoder decoder_of_topic(std::string_view topic);

struct DecodedRecord {
  /// What stands behind " key: " and " payload: "; nothing: the part is left out.
  std::optional<std::string> key, payload;
  /// The tool ends at this record, whose line has neither.
  bool ends_tool = false;
};

/// As the tool has it. What cannot be decoded is said in its words.
DecodedRecord decode_as_text(DumpDecoder decoder, const RecordView& record);

/// Appends ,"key_decoded":{...},"value_decoded":{...}: type or version, and the data; of a type or version
/// that is not known here its number and the bytes as hex, of what does not parse why, and the bytes.
void append_decoded_members(TextBuffer& to, DumpDecoder decoder, const RecordView& record);

}  // namespace tk
