#include "commands/diagnostics.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/base/json_writer.h"
#include "core/base/text.h"

namespace tk {
namespace {

constexpr std::size_t kWhole = std::numeric_limits<std::size_t>::max();

}  // namespace

int worse_exit_code(int a, int b) {
  constexpr std::array kByRank = {0, 1, 4, 3, 2};
  const auto rank = [&](int code) { return std::find(kByRank.begin(), kByRank.end(), code); };
  return rank(a) < rank(b) ? b : a;
}

std::string error_text(const Error& error) {
  std::string text = "tk: error: " + printable(error.message(), kWhole) + "\n";
  if (!error.path().empty()) {
    text += "  at '" + printable(error.path(), kWhole) + "'";
    if (error.position()) text += " byte " + std::to_string(*error.position());
    text += "\n";
  }
  if (!error.hint().empty()) text += "  hint: " + printable(error.hint(), kWhole) + "\n";
  return text;
}

std::string error_json(const Error& error) {
  TextBuffer buffer;
  JsonLine line(buffer);
  line.text("error", code_name(error.code())).text("message", error.message());
  if (error.path().empty()) {
    line.null("path");
  } else {
    line.text("path", error.path());
  }
  std::optional<std::int64_t> position;
  if (error.position()) position = static_cast<std::int64_t>(*error.position());
  line.number_or_null("position", position).end();
  return {buffer.begin(), buffer.end()};
}

void Diagnostics::line(std::string_view head, std::string_view text) {
  std::string whole(head);
  whole += printable(text, kWhole);
  whole += '\n';
  emit(whole);
}

void Diagnostics::detail(std::string_view text) {
  if (verbose_) line("tk: ", text);
}

void Diagnostics::log(std::string_view text) {
  line("", text);
}

void Diagnostics::note(std::string_view text) {
  if (!quiet_) line("tk: ", text);
}

void Diagnostics::warning(std::string_view text) {
  line("tk: warning: ", text);
}

void Diagnostics::error(const Error& error) {
  emit(error_text(error));
  const int code = tk::exit_code(error.code());
  if (!worst_ || worse_exit_code(exit_code(), code) != exit_code()) worst_ = error;
}

int Diagnostics::exit_code() const {
  return worst_ ? tk::exit_code(worst_->code()) : 0;
}

}  // namespace tk
