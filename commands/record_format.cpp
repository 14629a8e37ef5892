#include "commands/record_format.h"

#include "core/base/put_text.h"

namespace tk {
namespace {

void append_number(Buffer& out, std::int64_t number) {
  auto* const to = reinterpret_cast<char*>(out.room(kMaxDigits));
  out.commit(static_cast<std::size_t>(put_number(to, number) - to));
}

}  // namespace

RecordFormatter::RecordFormatter(const ConsumeOptions& options, std::string topic, PartitionId partition)
    : options_(options),
      values_only_(options.output == ConsumeOptions::Output::text && !options.key_separator &&
                   options.delimiter.size() == 1),
      topic_(std::move(topic)),
      partition_(partition),
      json_(topic_, partition) {}

void RecordFormatter::append(Buffer& out, const RecordView& record) const {
  switch (options_.output) {
    case ConsumeOptions::Output::text:
      return append_text(out, record);
    case ConsumeOptions::Output::format:
      return append_format(out, record);
    case ConsumeOptions::Output::json:
      return json_.append(out, record);
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

}  // namespace tk
