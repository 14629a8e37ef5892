#include "core/group/group_events.h"

#include <algorithm>

#include "core/base/json_reader.h"
#include "core/base/json_writer.h"

namespace tk {
namespace {

constexpr std::uint64_t kLargestRead = 64U << 20;

bool ends_in_line_feed(File& file, std::uint64_t size) {
  std::uint8_t last = 0;
  return size == 0 || (file.read_at(size - 1, {&last, 1}) == 1 && last == '\n');
}

// The newer half, from the beginning of a line on.
std::string newer_half(const std::string& text) {
  const std::size_t from =
      text.find('\n', text.size() - std::min<std::size_t>(text.size(), kLargestHistory / 2));
  return from == std::string::npos ? std::string() : text.substr(from + 1);
}

bool is_event(std::string_view line) {
  JsonReader reader(line);
  return reader.peek() == JsonType::object && !reader.skip().empty() && reader.finish();
}

}  // namespace

void append_event(TextBuffer& to, const std::string& group, const GroupEvent& event) {
  JsonLine line(to);
  line.number("ts", event.ts_ms).text("group", group).text("ev", event.what);
  if (event.member.empty()) {
    line.null("member");
  } else {
    line.text("member", event.member);
  }
  line.number("generation", event.generation).raw("detail", event.detail).end();
}

void append_events(FileSystem& fs, const std::string& path, const std::string& group,
                   const std::vector<GroupEvent>& events) {
  if (events.empty()) return;
  TextBuffer text;
  std::uint64_t size = 0;
  {
    const auto file = fs.open(path, OpenMode::create);
    size = file->size();
    if (!ends_in_line_feed(*file, size)) text.push_back('\n');
    for (const GroupEvent& event : events) append_event(text, group, event);
    if (size + text.size() <= kLargestHistory) {
      file->write_at(size, as_bytes({text.data(), text.size()}));
      return;
    }
  }
  std::string all = read_whole(fs, path, kLargestRead);
  all.append(text.data(), text.size());
  replace_atomically(fs, path, as_bytes(newer_half(all)), false);
}

History read_events(FileSystem& fs, const std::string& path) {
  History history;
  if (!fs.stat(path)) return history;
  const std::string text = read_whole(fs, path, kLargestRead);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    if (end < text.size() && is_event(line)) {
      history.lines.emplace_back(line);
    } else if (!line.empty()) {
      ++history.unreadable;
    }
    at = end + 1;
  }
  return history;
}

}  // namespace tk
