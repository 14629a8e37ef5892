#include "commands/dump_text.h"

#include <cstring>

#include "commands/java_text.h"
#include "core/base/put_text.h"
#include "core/base/utf8.h"
#include "core/format/control_record.h"

namespace tk {
namespace {

/// The fixed words and the numbers of any line fit.
constexpr std::size_t kLineWords = 1024;

template <std::size_t N>
char* put_number(char* at, const char (&label)[N], std::int64_t number) {
  return tk::put_number(put(at, label), number);
}

template <std::size_t N>
char* put_bool(char* at, const char (&label)[N], bool value) {
  at = put(at, label);
  return value ? put(at, "true") : put(at, "false");
}

char* put_timestamp(char* at, TimestampType type, std::int64_t timestamp) {
  *at++ = ' ';
  return put_number(put_text(at, timestamp_type_name(type)), ": ", timestamp);
}

/// Room for a line at the end of a buffer; end() takes what was written into the buffer.
class Line {
 public:
  Line(Buffer& to, std::size_t bytes) : to_(to), begin_(reinterpret_cast<char*>(to.room(bytes))) {}
  [[nodiscard]] char* begin() const { return begin_; }
  void end(const char* at) { to_.commit(static_cast<std::size_t>(at - begin_)); }

 private:
  Buffer& to_;
  char* begin_;
};

char* put_batch_fields(char* at, const UnitInfo& info) {
  at = put_number(at, "baseOffset: ", info.base_offset.value());
  at = put_number(at, " lastOffset: ", info.last_offset.value());
  at = put_number(at, " count: ", info.count);
  at = put_number(at, " baseSequence: ", info.base_sequence);
  at = put_number(at, " lastSequence: ", info.last_sequence());
  at = put_number(at, " producerId: ", info.producer_id.value());
  at = put_number(at, " producerEpoch: ", info.producer_epoch);
  at = put_number(at, " partitionLeaderEpoch: ", info.leader_epoch.value());
  at = put_bool(at, " isTransactional: ", info.transactional);
  at = put_bool(at, " isControl: ", info.control);
  at = put(at, " deleteHorizonMs: OptionalLong");
  if (!info.has_delete_horizon()) return put(at, ".empty");
  return put(put_number(at, "[", info.base_timestamp), "]");
}

std::size_t size_of(const std::optional<std::string_view>& bytes) {
  return bytes ? bytes->size() : 0;
}

std::int64_t shown_size(const std::optional<std::string_view>& bytes) {
  return bytes ? static_cast<std::int64_t>(bytes->size()) : -1;
}

std::size_t record_line_bound(const RecordView& record) {
  std::size_t bound = kLineWords + java_text_bound(size_of(record.key) + size_of(record.value));
  for (const HeaderView& header : record.headers) bound += java_text_bound(header.name.size()) + 1;
  return bound;
}

}  // namespace

void append_unit_line(Buffer& to, const UnitInfo& info, std::uint64_t position, bool valid) {
  Line line(to, kLineWords);
  char* at = line.begin();
  if (info.kind == UnitKind::batch) {
    at = put_batch_fields(at, info);
  } else {
    at = put_number(at, "offset: ", info.last_offset.value());
  }
  at = put_number(at, " position: ", static_cast<std::int64_t>(position));
  at = put_timestamp(at, info.timestamp_type, info.max_timestamp);
  at = put_number(at, " size: ", static_cast<std::int64_t>(info.size));
  at = put_number(at, " magic: ", info.magic);
  at = put_text(put(at, " compresscodec: "), shown_codec(info));
  at = put_number(at, " crc: ", info.crc);
  at = put_bool(at, " isvalid: ", valid);
  *at++ = '\n';
  line.end(at);
}

namespace {

/// The metadata of a record between its offset and its sequence.
char* put_sizes(char* at, const RecordView& record) {
  at = put_timestamp(at, record.timestamp_type, record.timestamp);
  at = put_number(at, " keySize: ", shown_size(record.key));
  return put_number(at, " valueSize: ", shown_size(record.value));
}

}  // namespace

char* RecordLines::put_shared(char* at, const RecordView& record) {
  const Shared wanted{record.timestamp, shown_size(record.key), shown_size(record.value),
                      record.timestamp_type};
  if (shared_size_ == 0 || wanted != shared_of_) {
    shared_of_ = wanted;
    const char* const end = put(put_sizes(shared_.data(), record), " sequence: -1 headerKeys: []");
    shared_size_ = static_cast<std::size_t>(end - shared_.data());
  }
  std::memcpy(at, shared_.data(), kSharedShown);
  return at + shared_size_;
}

char* RecordLines::put_metadata(char* at, const RecordView& record, bool with_sequence) {
  at = put_number(at, "| offset: ", record.offset.value());
  if (with_sequence && record.sequence == -1 && record.headers.empty()) return put_shared(at, record);
  at = put_sizes(at, record);
  if (!with_sequence) return at;
  at = put_number(at, " sequence: ", record.sequence);
  at = put(at, " headerKeys: [");
  for (std::size_t i = 0; i < record.headers.size(); ++i) {
    if (i > 0) *at++ = ',';
    at = put_java_text(at, record.headers[i].name);
  }
  *at++ = ']';
  return at;
}

char* RecordLines::put_data(char* at, const RecordView& record) const {
  if (!style_.data || (!record.key && !record.value)) return at;
  if (style_.skip_record_metadata) *at++ = '|';
  if (record.key) at = put_java_text(put(at, " key: "), *record.key);
  if (record.value) at = put_java_text(put(at, " payload: "), *record.value);
  return at;
}

// The tool ends at a record that a decoder cannot take; here the others follow.
void RecordLines::append_decoded(Buffer& to, const RecordView& record) const {
  const DecodedRecord decoded = decode_as_text(style_.decoder, record);
  if (style_.skip_record_metadata && (decoded.key || decoded.payload)) to.append("|");
  if (decoded.key) to.append(" key: " + *decoded.key);
  if (decoded.payload) to.append(" payload: " + *decoded.payload);
  to.append("\n");
}

void RecordLines::append_record(Buffer& to, const RecordView& record) {
  const bool decodes = style_.decoder != DumpDecoder::none && style_.data;
  {
    Line line(to, record_line_bound(record));
    char* at = line.begin();
    if (!style_.skip_record_metadata) at = put_metadata(at, record, true);
    if (!decodes) {
      at = put_data(at, record);
      *at++ = '\n';
    }
    line.end(at);
  }
  if (decodes) append_decoded(to, record);
}

void RecordLines::append_legacy(Buffer& to, const LegacyRecord& message) {
  Line line(to, record_line_bound(message.record));
  char* at = line.begin();
  if (!style_.skip_record_metadata) {
    at = put_metadata(at, message.record, false);
    at = put_bool(at, " isValid: ", message.valid);
    at = put_number(at, " crc: ", message.crc);
  }
  if (style_.decoder != DumpDecoder::none && style_.data) {
    line.end(at);
    return append_decoded(to, message.record);
  }
  at = put_data(at, message.record);
  *at++ = '\n';
  line.end(at);
}

Fault RecordLines::append_control(Buffer& to, const RecordView& record) {
  Fault fault;
  if (!style_.skip_record_metadata) {
    {
      Line line(to, record_line_bound(record));
      line.end(put_metadata(line.begin(), record, true));
    }
    scratch_.clear();
    fault = append_control_text(scratch_, record);
    to.append(std::string_view(scratch_.data(), scratch_.size()));
  }
  to.append("\n");
  return fault;
}

namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

/// Every byte as itself or as an escape of at most four.
char* put_escaped(char* at, std::string_view bytes) {
  const char* const end = bytes.data() + bytes.size();
  for (const char* from = bytes.data(); from != end;) {
    const Utf8Step step = utf8_step(from, end);
    const auto byte = static_cast<unsigned char>(*from);
    if (byte == '\n' || byte == '\r' || byte == '\t' || byte == '\\') {
      *at++ = '\\';
      *at++ = byte == '\n' ? 'n' : byte == '\r' ? 'r' : byte == '\t' ? 't' : '\\';
    } else if (step.valid && byte >= 0x20 && byte != 0x7f) {
      at = put_text(at, {from, step.length});
    } else {
      for (std::size_t i = 0; i < step.length; ++i) {
        const auto raw = static_cast<unsigned char>(from[i]);
        at = put(at, "\\x");
        *at++ = kHexDigits[raw >> 4];
        *at++ = kHexDigits[raw & 15];
      }
    }
    from += step.length;
  }
  return at;
}

}  // namespace

void append_json_unit_line(Buffer& to, const JsonUnitText& unit, bool data) {
  const RecordView none;
  const RecordView& record = unit.record != nullptr ? *unit.record : none;
  Line line(to, kLineWords + 4 * (size_of(record.key) + size_of(record.value)));
  char* at = line.begin();
  at = put_number(at, "offset: ", unit.offset.value());
  at = put_number(at, " position: ", static_cast<std::int64_t>(unit.position));
  at = put_number(at, " size: ", static_cast<std::int64_t>(unit.size));
  at = put_timestamp(at, record.timestamp_type, record.timestamp);
  at = put_number(at, " keySize: ", shown_size(record.key));
  at = put_number(at, " valueSize: ", shown_size(record.value));
  at = put(at, " crc: ");
  at = unit.crc ? put_hex32(put(at, "0x"), *unit.crc) : put(at, "none");
  at = put_bool(at, " isvalid: ", unit.valid);
  if (unit.control != JsonControl::none) {
    at = put_text(at, unit.control == JsonControl::commit  ? " endTxnMarker: COMMIT"
                      : unit.control == JsonControl::abort ? " endTxnMarker: ABORT"
                                                           : " emptied by compaction");
  }
  if (data && record.key) at = put_escaped(put(at, " key: "), *record.key);
  if (data && record.value) at = put_escaped(put(at, " payload: "), *record.value);
  *at++ = '\n';
  line.end(at);
}

}  // namespace tk
