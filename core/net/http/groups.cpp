// Groups over HTTP: the rows of `groups list`, `groups describe` and its `--members`; commits of nobody's.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/json_writer.h"
#include "core/group/commits.h"
#include "core/group/group_json.h"
#include "core/group/lag.h"
#include "core/net/groups.h"
#include "core/net/http/router.h"
#include "core/net/http/small_body.h"

#include <nlohmann/json.hpp>

namespace tk::http {
namespace {

net::Groups& groups_of(const ExchangePtr& exchange) {
  return exchange->service().part<net::Groups>();
}

/// Takes the line feed off the row that was written last, so that rows stand in an array.
void close_row(TextBuffer& text) {
  text.pop_back();
}

void open_row(TextBuffer& text) {
  if (text.size() > 1) text.push_back(',');
}

void state_row(TextBuffer& text, const GroupState& state) {
  open_row(text);
  const auto protocol = state.had_members ? std::optional(group_protocol_name(state.protocol)) : std::nullopt;
  const auto assignor = state.assignor ? std::optional(assignor_name(*state.assignor)) : std::nullopt;
  JsonLine(text)
      .text("group", state.group)
      .text("state", group_phase_name(state.phase))
      .text_or_null("protocol", protocol)
      .text_or_null("assignor", assignor)
      .number("generation", state.generation)
      .number("members", static_cast<std::int64_t>(state.members.size()))
      .raw("topics", names_array(topics_of(state)))
      .end();
  close_row(text);
}

void offset_row(TextBuffer& text, const GroupState& state, const GroupTopics& topics,
                const TopicPartition& partition, const std::map<TopicPartition, std::string>& held) {
  const CommittedOffset* const commit = committed_offset(state, topics, partition);
  const auto edges = topics.edges(partition);
  const auto if_there = [&](auto get) {
    return edges ? std::optional<std::int64_t>(get(*edges)) : std::nullopt;
  };
  std::optional<std::int64_t> lag;
  std::string note;
  if (!edges) note = "the topic is gone";
  if (commit != nullptr && edges) {
    lag = lag_of(Offset(commit->offset), edges->log_start, edges->high_watermark);
    if (commit->offset < edges->log_start.value()) note = "the commit is below the log's start";
    if (commit->offset > edges->log_end.value()) note = "the commit is beyond the log's end";
  }
  const auto holder = held.find(partition);
  open_row(text);
  JsonLine line(text);
  line.text("group", state.group)
      .text("topic", partition.topic)
      .number("partition", partition.partition.value());
  line.number_or_null("committed", commit ? std::optional(commit->offset) : std::nullopt);
  line.number_or_null("log_start_offset", if_there([](const LogEdges& e) { return e.log_start.value(); }));
  line.number_or_null("log_end_offset", if_there([](const LogEdges& e) { return e.log_end.value(); }));
  line.number_or_null("end_offset", if_there([](const LogEdges& e) { return e.high_watermark.value(); }));
  line.number_or_null("lag", lag);
  line.text_or_null("member",
                    holder == held.end() ? std::nullopt : std::optional<std::string_view>(holder->second));
  line.text_or_null("metadata", commit ? std::optional<std::string_view>(commit->metadata) : std::nullopt);
  line.number_or_null("leader_epoch", commit && commit->leader_epoch >= 0
                                          ? std::optional<std::int64_t>(commit->leader_epoch)
                                          : std::nullopt);
  line.number_or_null("commit_ts", commit ? std::optional(commit->commit_ts_ms) : std::nullopt);
  line.text_or_null("note", note.empty() ? std::nullopt : std::optional<std::string_view>(note));
  line.end();
  close_row(text);
}

void member_row(TextBuffer& text, const GroupState& state, const std::string& id, const GroupMember& member) {
  open_row(text);
  JsonLine line(text);
  member_json(line, state, id, member);
  line.end();
  close_row(text);
}

/// Answers with what `write` makes of a group.
void respond_group(const ExchangePtr& exchange, const std::string& group,
                   std::function<void(TextBuffer&, const GroupState&, const GroupTopics&)> write) {
  const auto text = std::make_shared<TextBuffer>();
  const auto known = std::make_shared<bool>(false);
  groups_of(exchange).look(
      group,
      [text, known, write = std::move(write)](const GroupState* state, const GroupTopics& topics) {
        if (state == nullptr) return;
        *known = true;
        text->push_back('[');
        write(*text, *state, topics);
        append(*text, "]\n");
      },
      [exchange, text, known, group](const Error* error) {
        if (error != nullptr) return exchange->respond_error(*error);
        if (!*known) {
          return exchange->respond_error(
              Error(ErrorCode::group_id_not_found, fmt::format("there is no group '{}'", printable(group))));
        }
        exchange->respond(200, kJson, std::string(text->begin(), text->end()));
      });
}

}  // namespace

void list_groups(const ExchangePtr& exchange) {
  const auto text = std::make_shared<TextBuffer>();
  groups_of(exchange).with_store(
      [text](GroupStore& store, const GroupTopics& topics) {
        text->push_back('[');
        for (const std::string& key : store.keys()) {
          try {
            const auto state = store.at_this_moment(store.read_key(key), topics);
            if (state) state_row(*text, *state);
          } catch (const Error&) {
            // A damaged file is what `tk groups list` reports.
          }
        }
        append(*text, "]\n");
      },
      [exchange, text](const Error* error) {
        if (error != nullptr) return exchange->respond_error(*error);
        exchange->respond(200, kJson, std::string(text->begin(), text->end()));
      });
}

void describe_group(const ExchangePtr& exchange, const std::string& group) {
  respond_group(exchange, group, [](TextBuffer& text, const GroupState& state, const GroupTopics& topics) {
    const auto held = holders(state);
    PartitionList partitions;
    for (const std::string& topic : subscribed_topics(state)) {
      for (std::int32_t i = 0; i < topics.partition_count(topic).value_or(0); ++i)
        partitions.push_back({topic, PartitionId(i)});
    }
    for (const auto& [partition, offset] : state.offsets) partitions.push_back(partition);
    for (const auto& [partition, member] : held) partitions.push_back(partition);
    sort_and_unite(partitions);
    for (const TopicPartition& partition : partitions) offset_row(text, state, topics, partition, held);
  });
}

void describe_members(const ExchangePtr& exchange, const std::string& group) {
  respond_group(exchange, group, [](TextBuffer& text, const GroupState& state, const GroupTopics&) {
    for (const auto& [id, member] : state.members) member_row(text, state, id, member);
  });
}

void put_offsets(const ExchangePtr& exchange, const std::string& group) {
  const auto json = parse_small_body(exchange->request().body);
  if (!json.is_object() || json.empty())
    throw Error(ErrorCode::invalid_request, "the body is a JSON object: {\"orders-0\":41}");
  CommitRequest request;
  for (const auto& [name, offset] : json.items()) {
    const auto place = parse_partition_directory(name);
    if (!place || !offset.is_number_integer())
      throw Error(ErrorCode::invalid_request,
                  fmt::format("'{}' is not TOPIC-P with an offset", printable(name)));
    request.offsets.push_back({{place->topic, place->partition}, offset.get<std::int64_t>(), {}, {}});
  }
  const auto rows = std::make_shared<std::vector<CommittedRow>>();
  groups_of(exchange).change(
      group, [request, rows](GroupTurn& turn) { *rows = commit(turn, request); },
      [exchange, rows, group](const Error* error) {
        if (error != nullptr) return exchange->respond_error(*error);
        TextBuffer text;
        text.push_back('[');
        for (const CommittedRow& row : *rows) {
          open_row(text);
          JsonLine line(text);
          commit_json(line, group, row);
          line.end();
          close_row(text);
        }
        append(text, "]\n");
        exchange->respond(200, kJson, std::string(text.begin(), text.end()));
      });
}

}  // namespace tk::http
