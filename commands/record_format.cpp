#include "commands/record_format.h"

#include "core/base/json_writer.h"
#include "core/base/put_text.h"

namespace tk {
namespace {

void append_number(Buffer& out, std::int64_t number) {
  auto* const to = reinterpret_cast<char*>(out.room(kMaxDigits));
  out.commit(static_cast<std::size_t>(put_number(to, number) - to));
}

/// Runs of small pieces are built in a text buffer of the thread and copied once.
TextBuffer& json_scratch() {
  thread_local TextBuffer scratch;
  scratch.clear();
  return scratch;
}

void append_json_headers(TextBuffer& to, std::span<const HeaderView> headers) {
  append(to, ",\"headers\":[");
  bool first = true;
  for (const HeaderView& header : headers) {
    append(to, first ? "[" : ",[");
    first = false;
    if (is_utf8(header.name)) {
      append_json_string(to, header.name);
    } else {
      append(to, "{\"b64\":\"");
      append_base64(to, header.name);
      append(to, "\"}");
    }
    to.push_back(',');
    if (!header.value) {
      append(to, "null");
    } else if (is_utf8(*header.value)) {
      append_json_string(to, *header.value);
    } else {
      append(to, "{\"b64\":\"");
      append_base64(to, *header.value);
      append(to, "\"}");
    }
    to.push_back(']');
  }
  append(to, "]}\n");
}

}  // namespace

RecordFormatter::RecordFormatter(const ConsumeOptions& options, std::string topic, PartitionId partition)
    : options_(options),
      values_only_(options.output == ConsumeOptions::Output::text && !options.key_separator &&
                   options.delimiter.size() == 1),
      topic_(std::move(topic)),
      partition_(partition) {
  TextBuffer start;
  tk::append(start, "{\"topic\":");
  append_json_string(start, is_utf8(topic_) ? std::string_view(topic_) : std::string_view(printable(topic_)));
  tk::append(start, ",\"partition\":");
  tk::append_number(start, partition.value());
  tk::append(start, ",\"offset\":");
  json_start_.assign(start.begin(), start.end());
}

void RecordFormatter::append(Buffer& out, const RecordView& record) const {
  switch (options_.output) {
    case ConsumeOptions::Output::text:
      return append_text(out, record);
    case ConsumeOptions::Output::format:
      return append_format(out, record);
    case ConsumeOptions::Output::json:
      return append_json(out, record);
    case ConsumeOptions::Output::count:
      return;
  }
}

void RecordFormatter::append_text(Buffer& out, const RecordView& record) const {
  if (options_.key_separator) {
    out.append(record.key.value_or(options_.null_marker));
    out.append(*options_.key_separator);
  }
  out.append(record.value.value_or(options_.null_marker));
  out.append(options_.delimiter);
}

void RecordFormatter::append_format(Buffer& out, const RecordView& record) const {
  const auto length = [](const std::optional<std::string_view>& bytes) {
    return bytes ? static_cast<std::int64_t>(bytes->size()) : -1;
  };
  for (const FormatPart& part : options_.format) {
    switch (part.kind) {
      case FormatPart::Kind::literal:
        out.append(part.text);
        break;
      case FormatPart::Kind::topic:
        out.append(topic_);
        break;
      case FormatPart::Kind::partition:
        append_number(out, partition_.value());
        break;
      case FormatPart::Kind::offset:
        append_number(out, record.offset.value());
        break;
      case FormatPart::Kind::key:
        out.append(record.key.value_or(options_.null_marker));
        break;
      case FormatPart::Kind::key_length:
        append_number(out, length(record.key));
        break;
      case FormatPart::Kind::value:
        out.append(record.value.value_or(options_.null_marker));
        break;
      case FormatPart::Kind::value_length:
        append_number(out, length(record.value));
        break;
      case FormatPart::Kind::timestamp:
        append_number(out, record.timestamp);
        break;
      case FormatPart::Kind::headers: {
        bool first = true;
        for (const HeaderView& header : record.headers) {
          if (!first) out.append(",");
          first = false;
          out.append(header.name);
          out.append("=");
          out.append(header.value.value_or("NULL"));
        }
        break;
      }
    }
  }
}

void RecordFormatter::append_json(Buffer& out, const RecordView& record) const {
  TextBuffer& line = json_scratch();
  tk::append(line, json_start_);
  tk::append_number(line, record.offset.value());
  tk::append(line, ",\"ts\":");
  tk::append_number(line, record.timestamp);
  tk::append(line, ",\"tstype\":\"");
  tk::append(line, timestamp_type_name(record.timestamp_type));
  tk::append(line, "\",");
  append_json_bytes_member(line, "key", record.key);
  line.push_back(',');
  if (record.value_is_json && record.value) {
    tk::append(line, "\"value\":");
    tk::append(line, *record.value);
  } else {
    append_json_bytes_member(line, "value", record.value);
  }
  append_json_headers(line, record.headers);
  out.append(std::string_view(line.data(), line.size()));
}

}  // namespace tk
