// tk rebalance --preview: assignment questions from standard input, answers on standard output (groups.md
// §15).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "commands/assignment_json.h"
#include "commands/commands.h"
#include "commands/context.h"
#include "commands/rebalance_options.h"
#include "core/base/error.h"
#include "core/io/line_input.h"
#include "core/io/output.h"

namespace tk {
namespace {

constexpr std::size_t kLargestQuestion = 256U << 20;
constexpr std::string_view kShape =
    R"(a question is {"assignor":"sticky","partitions":{"t":6},"members":[{"id":"A","topics":["t"],"owned":{"t":[0]},"generation":1}]})";

/// Finds where a question ends by its braces: mostly with its line, or some lines further if it is printed
/// wide. Whether it is JSON the parser says.
class QuestionBounds {
 public:
  /// Looks at the next line; true if no object is open behind it.
  bool line(std::string_view text) {
    for (const char c : text) {
      if (in_string_) {
        if (escaped_) {
          escaped_ = false;
        } else if (c == '\\') {
          escaped_ = true;
        } else if (c == '"') {
          in_string_ = false;
        }
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == '{' || c == '[') {
        ++depth_;
      } else if (c == '}' || c == ']') {
        --depth_;
      }
    }
    // A string never spans lines: here it is a mistake, which the parser names at its place.
    return depth_ <= 0 || in_string_;
  }
  void reset() { *this = {}; }

 private:
  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
};

class Preview {
 public:
  Preview(const RebalanceOptions& options, Context& context) : options_(options), context_(context) {}

  void run();

 private:
  void take(std::string_view chunk);
  void add_line(std::string_view line);
  void answer();
  [[noreturn]] void refuse(const std::string& message, std::size_t position) const;
  [[nodiscard]] bool stopped() const { return context_.out.closed() || context_.interrupted.load() != 0; }

  const RebalanceOptions& options_;
  Context& context_;
  QuestionBounds bounds_;
  std::string text_;
  TextBuffer out_;
  std::int64_t lines_ = 0;
  /// The line on which `text_` begins, from 1.
  std::int64_t first_line_ = 1;
};

void Preview::run() {
  ChunkOptions options;
  options.max_record = kLargestQuestion;
  ChunkReader reader(STDIN_FILENO, "standard input", options);
  InputChunk chunk;
  while (!stopped()) {
    const Got got = reader.next(chunk);
    if (got == Got::end) break;
    if (got == Got::pause) continue;
    take(as_text(chunk.bytes()));
    // Somebody may wait for this answer before he asks the next question.
    if (chunk.input_paused()) context_.out.flush();
  }
  if (!stopped() && !text_.empty()) answer();
}

void Preview::take(std::string_view chunk) {
  while (!chunk.empty() && !stopped()) {
    const std::size_t end = std::min(chunk.find('\n'), chunk.size() - 1) + 1;
    add_line(chunk.substr(0, end));
    chunk.remove_prefix(end);
  }
}

void Preview::add_line(std::string_view line) {
  ++lines_;
  const bool blank = line.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (text_.empty()) {
    if (blank) return;
    first_line_ = lines_;
  }
  if (text_.size() + line.size() > kLargestQuestion) {
    refuse(fmt::format("the question is larger than {} bytes", kLargestQuestion), text_.size());
  }
  text_ += line;
  if (bounds_.line(line)) answer();
}

void Preview::answer() {
  try {
    const ParsedQuestion parsed = parse_question(text_);
    const Assignor assignor = options_.assignor.value_or(parsed.assignor.value_or(Assignor::range));
    append_answer(out_, assign(assignor, parsed.question));
  } catch (const QuestionMistake& mistake) {
    refuse(mistake.message, mistake.position);
  } catch (const Error& error) {
    refuse(error.message(), 0);
  }
  context_.out.write({out_.data(), out_.size()});
  out_.clear();
  text_.clear();
  bounds_.reset();
}

void Preview::refuse(const std::string& message, std::size_t position) const {
  const auto at = text_.begin() + static_cast<std::ptrdiff_t>(std::min(position, text_.size()));
  const auto line = first_line_ + std::count(text_.begin(), at, '\n');
  throw Error(ErrorCode::invalid_request, fmt::format("standard input, line {}: {}", line, message))
      .hint(std::string(kShape));
}

}  // namespace

int run_rebalance_preview(const RebalanceOptions& options, Context& context) {
  Preview(options, context).run();
  return 0;
}

}  // namespace tk
