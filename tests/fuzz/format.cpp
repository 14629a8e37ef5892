// The format string of `consume -f`. Its parts, printed as a format string again, are the same parts, and a
// record is printed as a second reading of the text has it.
#include <fmt/format.h>

#include <map>

#include "cli/parse_types.h"
#include "commands/record_format.h"
#include "core/base/error.h"
#include "tests/fuzz/fuzz.h"

namespace tk::fuzz {
namespace {

using Kind = FormatPart::Kind;

/// The token of a part, or its text with every byte escaped.
std::string printed(const FormatPart& part) {
  static constexpr char kTokens[] = "?tpokKsSTh";  // in the order of FormatPart::Kind
  if (part.kind != Kind::literal) return {'%', kTokens[static_cast<std::size_t>(part.kind)]};
  std::string text;
  for (const char c : part.text) text += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
  return text;
}

/// What a format that was taken must print of the record in check(), by a reading of the text of its own.
std::string printed_by_hand(const std::string& text) {
  static const std::map<char, std::string> kTokens = {
      {'t', "topic"},      {'p', "3"},    {'o', "42"}, {'k', "key"},
      {'K', "3"},          {'s', "NULL"}, {'S', "-1"}, {'T', "1700000000000"},
      {'h', "a=1,b=NULL"}, {'%', "%"}};
  static const std::map<char, char> kEscapes = {
      {'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'0', '\0'}, {'\\', '\\'}};
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      out += kTokens.at(text.at(++i));
    } else if (text[i] == '\\' && text.at(i + 1) == 'x') {
      out += static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else if (text[i] == '\\') {
      out += kEscapes.at(text.at(++i));
    } else {
      out += text[i];
    }
  }
  return out;
}

void check(const std::string& text) {
  ConsumeOptions options;
  try {
    options.format = cli::parse_output_format(text);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::invalid_request, "a format is refused as a usage error");
    return;
  }
  std::string again;
  for (const FormatPart& part : options.format) {
    require(part.kind == Kind::literal || part.text.empty(), "only a literal has text");
    again += printed(part);
  }
  const std::vector<FormatPart> parts = cli::parse_output_format(again);
  require(parts.size() == options.format.size(), "as many parts after printing them");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    require(parts[i].kind == options.format[i].kind && parts[i].text == options.format[i].text,
            "every part is the same");
  }

  options.output = ConsumeOptions::Output::format;
  options.null_marker = "NULL";
  const HeaderView headers[] = {{"a", "1"}, {"b", std::nullopt}};
  RecordView record;
  record.offset = Offset(42);
  record.timestamp = 1700000000000;
  record.key = "key";
  record.headers = headers;
  Buffer out;
  RecordFormatter(options, "topic", PartitionId(3)).append(out, record);
  require(as_text(out.view()) == printed_by_hand(text), "a record is printed as the text says");
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tk::fuzz::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
