// Questions and answers of the assignors in the notation of groups.md §4.10.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "core/group/assignor.h"

namespace tk::test {

inline std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) {
    const auto begin = part.find_first_not_of(' ');
    if (begin != std::string::npos)
      parts.push_back(part.substr(begin, part.find_last_not_of(' ') - begin + 1));
  }
  return parts;
}

/// "t0:3 t1:3"
inline std::map<std::string, std::int32_t> topics(const std::string& text) {
  std::map<std::string, std::int32_t> counts;
  for (const auto& word : split(text, ' ')) {
    const auto parts = split(word, ':');
    counts[parts.at(0)] = std::stoi(parts.at(1));
  }
  return counts;
}

/// "A t0:0,1 t1:2; B -"
inline Assignment assignment(const std::string& text) {
  Assignment assigned;
  for (const auto& entry : split(text, ';')) {
    const auto words = split(entry, ' ');
    auto& partitions = assigned[words.at(0)];
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "-") continue;
      const auto parts = split(words[i], ':');
      for (const auto& number : split(parts.at(1), ',')) {
        partitions.push_back({parts.at(0), PartitionId(std::stoi(number))});
      }
    }
  }
  return assigned;
}

inline std::string text_of(const Assignment& assigned) {
  std::string text;
  for (const auto& [member, partitions] : assigned) {
    text += (text.empty() ? "" : "; ") + member;
    std::string topic;
    for (const auto& partition : partitions) {
      text += partition.topic == topic ? "," : " " + partition.topic + ":";
      text += std::to_string(partition.partition.value());
      topic = partition.topic;
    }
    if (partitions.empty()) text += " -";
  }
  return text;
}

/// "t-4>C t-5>C"
inline std::string text_of(const std::map<TopicPartition, std::string>& transferring) {
  std::string text;
  for (const auto& [partition, member] : transferring) {
    text += (text.empty() ? "" : " ") + partition.topic + "-" + std::to_string(partition.partition.value()) +
            ">" + member;
  }
  return text;
}

/// Members as "A(a b)@5; m9/i1; C": subscriptions in parentheses (without them: all topics), generation
/// behind
/// @, instance behind /. What they own as an assignment, in generation 1 where none is named.
inline AssignmentQuestion question(const std::string& topic_counts, const std::string& members,
                                   const std::string& owned = "") {
  AssignmentQuestion asked;
  asked.partitions = topics(topic_counts);
  const Assignment held = assignment(owned);
  for (std::string entry : split(members, ';')) {
    MemberSubscription member;
    if (!held.empty()) member.generation = 1;
    if (const auto at = entry.find('@'); at != std::string::npos) {
      member.generation = std::stoi(entry.substr(at + 1));
      entry.resize(at);
    }
    if (const auto at = entry.find('/'); at != std::string::npos) {
      member.instance = entry.substr(at + 1);
      entry.resize(at);
    }
    if (const auto at = entry.find('('); at != std::string::npos) {
      member.topics = split(entry.substr(at + 1, entry.find(')') - at - 1), ' ');
      entry.resize(at);
    } else {
      for (const auto& [topic, count] : asked.partitions) member.topics.push_back(topic);
    }
    member.id = entry;
    if (const auto at = held.find(member.id); at != held.end()) member.owned = at->second;
    asked.members.push_back(std::move(member));
  }
  return asked;
}

}  // namespace tk::test
