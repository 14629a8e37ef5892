// What Kafka 4.4's own assignors answered to questions drawn at random (tests/interop/assignors.py wrote both
// down).
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/group/assignor.h"
#include "tests/unit/group/notation.h"

using namespace tk;
using namespace tk::test;
using nlohmann::json;

namespace {

std::vector<TopicPartition> partitions_of(const json& by_topic) {
  std::vector<TopicPartition> partitions;
  for (const auto& [topic, numbers] : by_topic.items()) {
    for (const std::int32_t number : numbers) partitions.push_back({topic, PartitionId(number)});
  }
  return partitions;
}

AssignmentQuestion question_of(const json& row) {
  AssignmentQuestion asked;
  for (const auto& [topic, count] : row.at("partitions").items()) asked.partitions[topic] = count;
  for (const json& given : row.at("members")) {
    MemberSubscription member;
    member.id = given.at("id");
    if (given.contains("instance")) member.instance = given.at("instance");
    member.topics = given.at("topics").get<std::vector<std::string>>();
    member.owned = partitions_of(given.at("owned"));
    if (given.contains("generation")) member.generation = given.at("generation");
    asked.members.push_back(std::move(member));
  }
  return asked;
}

Assignment assignment_of(const json& by_member) {
  Assignment assigned;
  for (const auto& [member, by_topic] : by_member.items()) assigned[member] = partitions_of(by_topic);
  return assigned;
}

std::vector<std::size_t> sizes(const Assignment& assigned) {
  std::vector<std::size_t> all;
  for (const auto& [member, partitions] : assigned) all.push_back(partitions.size());
  std::sort(all.begin(), all.end());
  return all;
}

// Partitions that stay with a member that has a claim on them.
std::int64_t stayed(const AssignmentQuestion& asked, const Assignment& assigned) {
  std::int64_t count = 0;
  for (const auto& member : asked.members) {
    const auto& now = assigned.at(member.id);
    count += std::count_if(member.owned.begin(), member.owned.end(), [&](const auto& partition) {
      return std::binary_search(now.begin(), now.end(), partition);
    });
  }
  return count;
}

}  // namespace

TEST_CASE("answers of Kafka's own assignors, as recorded") {
  std::ifstream file(TK_FIXTURES "/assignors.ndjson");
  std::map<Assignor, int> questions;
  for (std::string line; std::getline(file, line);) {
    const json row = json::parse(line);
    const AssignmentQuestion asked = question_of(row.at("question"));
    const Assignor assignor = parse_assignor(row.at("question").at("assignor").get<std::string>());
    const AssignmentAnswer answer = assign(assignor, asked);
    const Assignment kafka = assignment_of(row.at("kafka"));
    ++questions[assignor];
    INFO(line);
    if (assignor == Assignor::range || assignor == Assignor::roundrobin ||
        assignor == Assignor::server_range) {
      REQUIRE(text_of(answer.assignment) == text_of(kafka));
      continue;
    }
    REQUIRE(sizes(answer.assignment) == sizes(kafka));
    REQUIRE(stayed(asked, kafka) == stayed(asked, answer.assignment));
  }
  for (const auto& name : assignor_names()) CHECK_MESSAGE(questions[parse_assignor(name)] >= 40, name);
}
