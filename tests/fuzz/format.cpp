// The format string of `consume -f`. Its parts, printed as a format string again, are the same parts, and a
// record is printed part by part.
#include <fmt/format.h>

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

/// What a part stands for in the record that check() prints.
std::string meaning(const FormatPart& part) {
  static constexpr std::string_view kMeanings[] = {
      "", "topic", "3", "42", "key", "3", "NULL", "-1", "1700000000000", "a=1,b=NULL"};
  if (part.kind == Kind::literal) return part.text;
  return std::string(kMeanings[static_cast<std::size_t>(part.kind)]);
}

void check(const std::string& text) {
  ConsumeOptions options;
  try {
    options.format = cli::parse_output_format(text);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::invalid_request, "a format is refused as a usage error");
    return;
  }
  std::string again, expected;
  for (const FormatPart& part : options.format) {
    require(part.kind == Kind::literal || part.text.empty(), "only a literal has text");
    again += printed(part);
    expected += meaning(part);
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
  require(as_text(out.view()) == expected, "a record is printed part by part");
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tk::fuzz::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
