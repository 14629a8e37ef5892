#include "core/net/kafka/consumer_protocol.h"

#include "core/base/buffer.h"

namespace tk::kafka {
namespace {

/// A count of things that take `least` bytes each at least.
std::optional<std::size_t> read_count(ByteReader& in, std::size_t least) {
  const auto count = in.be<std::int32_t>();
  if (!in.ok() || count < 0 || static_cast<std::size_t>(count) > in.remaining() / least) return std::nullopt;
  return static_cast<std::size_t>(count);
}

std::string read_text(ByteReader& in) {
  const auto length = in.be<std::int16_t>();
  if (length < 0) in.fail();
  return std::string(as_text(in.take(length < 0 ? 0 : static_cast<std::size_t>(length))));
}

template <class T>
void put(Buffer& out, T value) {
  store_be<T>(out.room(sizeof value), value);
  out.commit(sizeof value);
}

void put_text(Buffer& out, const std::string& text) {
  put(out, static_cast<std::int16_t>(text.size()));
  out.append(text);
}

}  // namespace

std::optional<std::vector<std::string>> read_subscription(std::string_view bytes) {
  ByteReader in(as_bytes(bytes));
  if (in.be<std::int16_t>() < 0) return std::nullopt;
  const auto count = read_count(in, 2);
  if (!count) return std::nullopt;
  std::vector<std::string> topics;
  for (std::size_t i = 0; i < *count && in.ok(); ++i) topics.push_back(read_text(in));
  if (!in.ok()) return std::nullopt;
  sort_and_unite(topics);
  return topics;
}

std::optional<PartitionList> read_assignment(std::string_view bytes) {
  ByteReader in(as_bytes(bytes));
  if (in.be<std::int16_t>() < 0) return std::nullopt;
  const auto topics = read_count(in, 6);
  if (!topics) return std::nullopt;
  PartitionList list;
  for (std::size_t i = 0; i < *topics && in.ok(); ++i) {
    const std::string topic = read_text(in);
    const auto count = read_count(in, 4);
    if (!count) return std::nullopt;
    for (std::size_t p = 0; p < *count; ++p) list.push_back({topic, PartitionId(in.be<std::int32_t>())});
  }
  if (!in.ok()) return std::nullopt;
  std::erase_if(list, [](const TopicPartition& p) { return p.partition.value() < 0 || p.topic.empty(); });
  sort_and_unite(list);
  return list;
}

std::string write_subscription(const std::vector<std::string>& topics) {
  Buffer out;
  put<std::int16_t>(out, 0);
  put(out, static_cast<std::int32_t>(topics.size()));
  for (const std::string& topic : topics) put_text(out, topic);
  put<std::int32_t>(out, -1);
  return std::string(as_text(out.view()));
}

std::string write_assignment(const PartitionList& partitions) {
  std::map<std::string, std::vector<std::int32_t>> by_topic;
  for (const TopicPartition& partition : partitions)
    by_topic[partition.topic].push_back(partition.partition.value());
  Buffer out;
  put<std::int16_t>(out, 0);
  put(out, static_cast<std::int32_t>(by_topic.size()));
  for (const auto& [topic, numbers] : by_topic) {
    put_text(out, topic);
    put(out, static_cast<std::int32_t>(numbers.size()));
    for (const std::int32_t number : numbers) put(out, number);
  }
  put<std::int32_t>(out, -1);
  return std::string(as_text(out.view()));
}

}  // namespace tk::kafka
