#include "commands/produce_input.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/base/json_reader.h"
#include "core/base/text.h"
#include "core/log/record_json.h"

namespace tk {
namespace {

void refuse(ParsedChunk& out, std::string message, ErrorCode code = ErrorCode::invalid_record) {
  out.fault = {code, out.records.size(), std::move(message)};
}

/// The first `separator` in `text`, or npos.
std::size_t find(std::string_view text, std::string_view separator) {
  if (separator.size() == 1) {
    const void* at = std::memchr(text.data(), separator[0], text.size());
    return at == nullptr ? std::string_view::npos
                         : static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
  }
  const void* at = memmem(text.data(), text.size(), separator.data(), separator.size());
  return at == nullptr ? std::string_view::npos
                       : static_cast<std::size_t>(static_cast<const char*>(at) - text.data());
}

}  // namespace

ProduceInput::ProduceInput(const ProduceOptions& options, const Limits& limits)
    : options_(options), limits_(limits) {
  files_ = options.files.empty() ? std::vector<std::string>{"-"} : options.files;
}

ProduceInput::~ProduceInput() = default;

bool ProduceInput::open_next() {
  if (next_file_ == files_.size()) return false;
  const std::string& path = files_[next_file_++];
  int descriptor = 0;
  if (path == "-") {
    name_ = "standard input";
  } else {
    name_ = path;
    file_ = open_input(path);
    descriptor = file_.get();
  }
  ChunkOptions chunks;
  chunks.delimiter = options_.input == ProduceOptions::Input::raw    ? std::string()
                     : options_.input == ProduceOptions::Input::json ? std::string("\n")
                                                                     : options_.delimiter;
  chunks.chunk_size = limits_.chunk_size;
  chunks.max_record = limits_.max_record;
  chunks.linger_ms = options_.linger_ms;
  reader_ = std::make_unique<ChunkReader>(descriptor, name_, chunks);
  at_start_ = true;
  handed_out_ = false;
  return true;
}

std::optional<std::uint64_t> ProduceInput::size() const {
  std::uint64_t sum = 0;
  for (const std::string& path : files_) {
    struct stat found {};
    const bool is_input = path == "-";
    if ((is_input ? ::fstat(STDIN_FILENO, &found) : ::stat(path.c_str(), &found)) != 0 ||
        !S_ISREG(found.st_mode))
      return std::nullopt;
    const off_t at = is_input ? ::lseek(STDIN_FILENO, 0, SEEK_CUR) : 0;
    sum += static_cast<std::uint64_t>(std::max<off_t>(0, found.st_size - std::max<off_t>(at, 0)));
  }
  return sum;
}

Got ProduceInput::take(InputChunk& chunk, std::int64_t wait_ms, std::string& name, bool& restart) {
  for (;;) {
    if (!reader_ && !open_next()) return Got::end;
    const Got got = reader_->next(chunk, wait_ms);
    const bool empty_raw = got == Got::end && options_.input == ProduceOptions::Input::raw && !handed_out_;
    if (got == Got::chunk || empty_raw) {
      name = name_;
      restart = at_start_;
      at_start_ = false;
      handed_out_ = true;
      if (on_taken_) on_taken_(chunk.bytes().size());
      return Got::chunk;
    }
    if (got == Got::pause) return got;
    reader_.reset();
  }
}

void ProduceInput::set_key(InputRecord& record, std::string_view key) const {
  if (options_.null_marker && key == *options_.null_marker) return;
  record.key = key.data();
  record.key_size = static_cast<std::int32_t>(key.size());
}

void ProduceInput::set_value(InputRecord& record, std::string_view value) const {
  if (options_.null_marker && value == *options_.null_marker) return;
  record.value = value.data();
  record.value_size = static_cast<std::int32_t>(value.size());
}

void ProduceInput::parse(const InputChunk& chunk, ParsedChunk& out) const {
  const std::string_view text = as_text(chunk.bytes());
  if (options_.input == ProduceOptions::Input::raw) {
    InputRecord record;
    if (options_.key) set_key(record, *options_.key);
    set_value(record, text.data() == nullptr ? std::string_view("") : text);
    out.records.push_back(record);
    return;
  }
  if (options_.input == ProduceOptions::Input::json) {
    // Decoded text never takes more than the input it comes from, so it never moves.
    out.texts.emplace_back(std::make_unique<std::string>())->reserve(text.size() + 16);
  }
  parse_lines(text, out);
}

void ProduceInput::parse_lines(std::string_view text, ParsedChunk& out) const {
  const bool json = options_.input == ProduceOptions::Input::json;
  const std::string_view delimiter = json ? std::string_view("\n") : std::string_view(options_.delimiter);
  const bool plain =
      !json && !options_.key && !options_.key_separator && !options_.null_marker && !options_.json_values;
  if (plain && delimiter.size() == 1) return parse_plain_lines(text, delimiter[0], out);
  while (!text.empty()) {
    const std::size_t end = find(text, delimiter);
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + delimiter.size());
    InputRecord record;
    if (!(json ? parse_json(line, record, out) : parse_line(line, record, out))) return;
    out.records.push_back(record);
  }
}

// Lines that are values as they stand.
void ProduceInput::parse_plain_lines(std::string_view text, char delimiter, ParsedChunk& out) const {
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const void* const found = std::memchr(at, delimiter, static_cast<std::size_t>(end - at));
    const char* const stop = found == nullptr ? end : static_cast<const char*>(found);
    out.records.push_back({.value = at, .value_size = static_cast<std::int32_t>(stop - at)});
    at = stop == end ? end : stop + 1;
  }
}

bool ProduceInput::parse_line(std::string_view line, InputRecord& record, ParsedChunk& out) const {
  if (options_.key) set_key(record, *options_.key);
  if (options_.key_separator) {
    const std::size_t at = find(line, *options_.key_separator);
    if (at != std::string_view::npos) {
      set_key(record, line.substr(0, at));
      line.remove_prefix(at + options_.key_separator->size());
    } else if (!options_.allow_no_key) {
      refuse(out, fmt::format("no key separator '{}' in it (--allow-no-key takes such lines with a null key)",
                              printable(*options_.key_separator)));
      return false;
    }
  }
  set_value(record, line);
  if (options_.json_values && record.value_size >= 0) {
    JsonReader reader(line);
    const std::string_view value = reader.skip();
    if (!reader.finish()) {
      refuse(out, fmt::format("it is not JSON: {} at byte {} of it", reader.error(), reader.position()));
      return false;
    }
    record.value = value.data();
    record.value_size = static_cast<std::int32_t>(value.size());
    // A null stays the null value; everything else stands for itself.
    record.extra = static_cast<std::int32_t>(out.extras.size());
    out.extras.push_back(
        {.timestamp = {}, .first_header = 0, .header_count = 0, .value_is_json = value != "null"});
    if (value == "null") record.value_size = -1;
  }
  return true;
}

bool ProduceInput::parse_json(std::string_view line, InputRecord& record, ParsedChunk& out) const {
  JsonRecordReader reader(line, out);
  InputExtra extra;
  const std::size_t headers_before = out.headers.size();
  if (!reader.read(record, extra)) {
    out.headers.resize(headers_before);
    refuse(out, reader.fault());
    return false;
  }
  if (options_.repartition) record.partition = -1;
  if (record.partition >= limits_.partition_limit) {
    refuse(out,
           fmt::format("the topic has no partition {} (--repartition ignores the member)", record.partition),
           ErrorCode::unknown_topic_or_partition);
    return false;
  }
  out.partition_asked |= record.partition >= 0;
  if (options_.key) set_key(record, *options_.key);
  if (limits_.format == TopicFormat::kafka) extra.value_is_json = false;  // kept as its text
  if (extra.timestamp || extra.header_count > 0 || extra.value_is_json) {
    record.extra = static_cast<std::int32_t>(out.extras.size());
    out.extras.push_back(extra);
  }
  return true;
}

}  // namespace tk
