#include "commands/assignment_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/base/json_reader.h"
#include "core/base/json_writer.h"
#include "core/catalog/topic_name.h"

namespace tk {
namespace {

constexpr std::int64_t kMostInt32 = std::numeric_limits<std::int32_t>::max();

/// One question, read from front to back. What is wrong is thrown where the reader stands.
class QuestionParser {
 public:
  explicit QuestionParser(std::string_view json) : reader_(json) {}

  ParsedQuestion parse();

 private:
  [[noreturn]] void fail(std::string message);
  void require(JsonType type, std::string_view what, std::string_view name);
  /// Calls `read` for every member of the object that comes next; null instead of an object is none.
  template <class Read>
  void each_member(std::string_view what, Read&& read);
  template <class Read>
  void each_element(std::string_view what, Read&& read);
  std::string text(std::string_view what);
  std::int32_t number(std::string_view what, std::int64_t least, std::int64_t most);
  void no_such_name(std::string_view where, std::string_view name, const std::vector<std::string>& known);

  void read_partitions(AssignmentQuestion& question);
  MemberSubscription read_member();
  void read_member_part(const std::string& name, MemberSubscription& member);
  void read_owned(MemberSubscription& member);
  void check_members(const AssignmentQuestion& question);

  JsonReader reader_;
};

void QuestionParser::fail(std::string message) {
  // A mistake of the reader came before whatever was found out after it.
  if (!reader_.ok()) message = reader_.error();
  throw QuestionMistake{std::move(message), reader_.position()};
}

std::string_view type_name(JsonType type) {
  switch (type) {
    case JsonType::object:
      return "an object";
    case JsonType::array:
      return "a list";
    case JsonType::string:
      return "a string";
    case JsonType::number:
      return "a number";
    case JsonType::boolean:
      return "true or false";
    case JsonType::null:
      return "null";
    case JsonType::invalid:
      break;
  }
  return "no JSON";
}

void QuestionParser::require(JsonType type, std::string_view what, std::string_view name) {
  const JsonType found = reader_.peek();
  if (found != type) fail(fmt::format("{} is {}, not {}", what, type_name(found), name));
}

template <class Read>
void QuestionParser::each_member(std::string_view what, Read&& read) {
  require(JsonType::object, what, type_name(JsonType::object));
  reader_.enter_object();
  std::set<std::string> seen;
  for (std::string_view name; reader_.next_member(name);) {
    const std::string own(name);
    if (!seen.insert(own).second) fail(fmt::format("{} names '{}' twice", what, printable(own)));
    read(own);
    if (!reader_.ok()) fail({});
  }
  if (!reader_.ok()) fail({});
}

template <class Read>
void QuestionParser::each_element(std::string_view what, Read&& read) {
  require(JsonType::array, what, type_name(JsonType::array));
  reader_.enter_array();
  while (reader_.next_element()) {
    read();
    if (!reader_.ok()) fail({});
  }
  if (!reader_.ok()) fail({});
}

std::string QuestionParser::text(std::string_view what) {
  require(JsonType::string, what, type_name(JsonType::string));
  std::string scratch;
  std::string value(reader_.string(scratch));
  if (!reader_.ok()) fail({});
  if (value.empty()) fail(fmt::format("{} is empty", what));
  return value;
}

std::int32_t QuestionParser::number(std::string_view what, std::int64_t least, std::int64_t most) {
  require(JsonType::number, what, "a whole number");
  const std::int64_t value = reader_.integer();
  if (!reader_.ok()) fail({});
  if (value < least || value > most) {
    fail(fmt::format("{} is {}, not within {} and {}", what, value, least, most));
  }
  return static_cast<std::int32_t>(value);
}

void QuestionParser::no_such_name(std::string_view where, std::string_view name,
                                  const std::vector<std::string>& known) {
  std::string message =
      fmt::format("'{}' is not known in {}, which has {}", printable(name), where, fmt::join(known, ", "));
  if (const auto nearest = nearest_name(name, known))
    message += fmt::format("; did you mean '{}'?", *nearest);
  fail(std::move(message));
}

void QuestionParser::read_partitions(AssignmentQuestion& question) {
  std::int64_t total = 0;
  each_member("'partitions'", [&](const std::string& topic) {
    const std::int32_t count =
        number(fmt::format("the number of partitions of '{}'", printable(topic)), 0, kMostInt32);
    total += count;
    if (total > kMostPartitions) fail(fmt::format("more than {} partitions in all", kMostPartitions));
    question.partitions.emplace(topic, count);
  });
}

void QuestionParser::read_owned(MemberSubscription& member) {
  each_member("'owned'", [&](const std::string& topic) {
    const std::string what = fmt::format("what is owned of '{}'", printable(topic));
    each_element(what, [&] {
      member.owned.push_back({topic, PartitionId(number("a partition", 0, kMostInt32))});
    });
  });
}

void QuestionParser::read_member_part(const std::string& name, MemberSubscription& member) {
  static const std::vector<std::string> known = {"id", "instance", "topics", "owned", "generation"};
  if (name == "id") {
    member.id = text("'id'");
  } else if (name == "topics") {
    each_element("'topics'", [&] { member.topics.push_back(text("a topic")); });
  } else if (name == "instance") {
    if (!reader_.null()) member.instance = text("'instance'");
  } else if (name == "owned") {
    if (!reader_.null()) read_owned(member);
  } else if (name == "generation") {
    if (!reader_.null()) member.generation = number("'generation'", -1, kMostInt32);
  } else {
    no_such_name("a member", name, known);
  }
}

MemberSubscription QuestionParser::read_member() {
  MemberSubscription member;
  bool has_topics = false;
  each_member("a member", [&](const std::string& name) {
    has_topics = has_topics || name == "topics";
    read_member_part(name, member);
  });
  if (member.id.empty()) fail("a member without 'id'");
  if (!has_topics) fail(fmt::format("member '{}' has no 'topics'", printable(member.id)));
  return member;
}

void QuestionParser::check_members(const AssignmentQuestion& question) {
  std::set<std::string_view> ids;
  std::set<std::string_view> instances;
  for (const MemberSubscription& member : question.members) {
    if (!ids.insert(member.id).second)
      fail(fmt::format("two members with the id '{}'", printable(member.id)));
    if (member.instance && !instances.insert(*member.instance).second) {
      fail(fmt::format("two members with the instance '{}'", printable(*member.instance)));
    }
  }
}

ParsedQuestion QuestionParser::parse() {
  static const std::vector<std::string> known = {"assignor", "partitions", "members"};
  ParsedQuestion parsed;
  bool has_partitions = false;
  bool has_members = false;
  each_member("the question", [&](const std::string& name) {
    if (name == "assignor") {
      const std::string given = text("'assignor'");
      try {
        parsed.assignor = parse_assignor(given);
      } catch (const Error& error) {
        fail("'assignor': " + error.message());
      }
    } else if (name == "partitions") {
      has_partitions = true;
      read_partitions(parsed.question);
    } else if (name == "members") {
      has_members = true;
      each_element("'members'", [&] { parsed.question.members.push_back(read_member()); });
    } else {
      no_such_name("a question", name, known);
    }
  });
  if (!reader_.finish()) fail({});
  if (!has_partitions) fail("the question has no 'partitions'");
  if (!has_members) fail("the question has no 'members'");
  check_members(parsed.question);
  return parsed;
}

void append_comma(TextBuffer& to, bool& first) {
  if (!first) to.push_back(',');
  first = false;
}

// {"t":[0,2],"u":[1]}
void append_partitions(TextBuffer& to, const std::vector<TopicPartition>& partitions) {
  to.push_back('{');
  const std::string* topic = nullptr;
  for (const TopicPartition& partition : partitions) {
    if (topic == nullptr || *topic != partition.topic) {
      if (topic != nullptr) append(to, "],");
      topic = &partition.topic;
      append_json_string(to, *topic);
      append(to, ":[");
    } else {
      to.push_back(',');
    }
    append_number(to, partition.partition.value());
  }
  append(to, topic == nullptr ? "}" : "]}");
}

}  // namespace

ParsedQuestion parse_question(std::string_view json) {
  return QuestionParser(json).parse();
}

void append_answer(TextBuffer& to, const AssignmentAnswer& answer) {
  append(to, R"({"assignment":{)");
  bool first = true;
  for (const auto& [member, partitions] : answer.assignment) {
    append_comma(to, first);
    append_json_string(to, member);
    to.push_back(':');
    append_partitions(to, partitions);
  }
  append(to, R"(},"transferring":{)");
  first = true;
  for (const auto& [partition, member] : answer.transferring) {
    append_comma(to, first);
    append_json_string(to, partition_directory_name(partition.topic, partition.partition));
    to.push_back(':');
    append_json_string(to, member);
  }
  append(to, R"(},"moved":)");
  append_number(to, answer.moved);
  append(to, R"(,"algorithm":)");
  append_json_string(to, answer.algorithm);
  append(to, "}\n");
}

}  // namespace tk
