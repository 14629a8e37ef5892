// Assignment questions and answers as JSON (groups.md §15).
#pragma once

#include <optional>
#include <string_view>

#include "core/base/text.h"
#include "core/group/assignor.h"

namespace tk {

struct ParsedQuestion {
  AssignmentQuestion question;
  std::optional<Assignor> assignor;
};

/// What a question lacks, or where it is no question: `message` names the member and what was expected there.
struct QuestionMistake {
  std::string message;
  /// Byte position in the text.
  std::size_t position = 0;
};

/// How many partitions a question may hold in all: memory goes with it.
inline constexpr std::int64_t kMostPartitions = 1'000'000;

/// Reads one question. Names it does not know are mistakes, so that a misspelt one is not overlooked; null
/// stands for an optional one that is absent. Throws QuestionMistake.
ParsedQuestion parse_question(std::string_view json);

/// {"assignment":{"A":{"t":[0,2]},...},"transferring":{"t-4":"C",...},"moved":2,"algorithm":"constrained"}
/// and a line feed.
void append_answer(TextBuffer& to, const AssignmentAnswer& answer);

}  // namespace tk
