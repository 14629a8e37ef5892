#include "core/log/record_json.h"

#include "core/base/json_writer.h"

namespace tk {
namespace {

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

RecordJson::RecordJson(const std::string& topic, PartitionId partition) {
  TextBuffer start;
  tk::append(start, "{\"topic\":");
  append_json_string(start, is_utf8(topic) ? std::string_view(topic) : std::string_view(printable(topic)));
  tk::append(start, ",\"partition\":");
  tk::append_number(start, partition.value());
  tk::append(start, ",\"offset\":");
  start_.assign(start.begin(), start.end());
}

void RecordJson::append(Buffer& out, const RecordView& record) const {
  TextBuffer& line = json_scratch();
  tk::append(line, start_);
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
