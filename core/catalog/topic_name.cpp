#include "core/catalog/topic_name.h"

#include <algorithm>

#include "core/base/text.h"

namespace tk {
namespace {

constexpr std::size_t kMaxTopicName = 249;
/// What file systems take as a name.
constexpr std::size_t kMaxFileName = 255;
constexpr std::size_t kIdDigits = 32;

struct SetAside {
  std::string_view suffix;
  PartitionState state;
};
constexpr SetAside kSetAside[] = {{"-delete", PartitionState::deleting},
                                  {"-stray", PartitionState::stray},
                                  {"-future", PartitionState::future}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_topic_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-';
}

/// The number of a partition as tk and Kafka write it: decimal, without sign and leading zeros, an int32. Any
/// other spelling of a number would be a second directory of the same partition.
std::optional<PartitionId> parse_number(std::string_view text) {
  if (text.empty() || !std::ranges::all_of(text, is_digit) || (text.size() > 1 && text[0] == '0')) return {};
  const auto number = parse_int(text);
  if (!number || *number > INT32_MAX) return {};
  return PartitionId(static_cast<std::int32_t>(*number));
}

}  // namespace

const char* topic_name_fault(std::string_view name) {
  if (name.empty()) return "a topic's name is not empty";
  if (name == "." || name == "..") return "'.' and '..' are no names of topics";
  if (name.size() > kMaxTopicName) return "a topic's name has at most 249 characters";
  if (!std::ranges::all_of(name, is_topic_character)) {
    return "a topic's name is made of letters and digits of ASCII, '.', '_' and '-'";
  }
  return nullptr;
}

bool topic_names_collide(std::string_view a, std::string_view b) {
  const auto folded = [](char c) { return c == '.' ? '_' : c; };
  return a != b && std::ranges::equal(a, b, {}, folded, folded);
}

std::string_view partition_state_name(PartitionState state) {
  constexpr std::string_view names[] = {"live", "delete", "stray", "future"};
  return names[static_cast<std::size_t>(state)];
}

std::optional<PartitionName> parse_partition_directory(std::string_view name) {
  PartitionState state = PartitionState::live;
  for (const SetAside& form : kSetAside) {
    if (!name.ends_with(form.suffix)) continue;
    name.remove_suffix(form.suffix.size());
    if (name.size() <= kIdDigits || name[name.size() - kIdDigits - 1] != '.') return {};
    if (!std::ranges::all_of(name.substr(name.size() - kIdDigits), is_hex)) return {};
    name.remove_suffix(kIdDigits + 1);
    state = form.state;
    break;
  }
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return {};
  const auto number = parse_number(name.substr(dash + 1));
  if (!number) return {};
  return PartitionName{std::string(name.substr(0, dash)), *number, state};
}

std::string partition_directory_name(std::string_view topic, PartitionId partition) {
  return std::string(topic) + "-" + std::to_string(partition.value());
}

std::string deletion_directory_name(std::string_view topic, PartitionId partition, const Uuid& id) {
  const std::string behind = "-" + std::to_string(partition.value()) + "." + id.hex() + "-delete";
  return std::string(topic.substr(0, kMaxFileName - behind.size())) + behind;
}

}  // namespace tk
