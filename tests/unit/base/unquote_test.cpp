#include "core/base/unquote.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace tk;

namespace {

/// What may be taken of `text` at most, byte by byte: how far, and what it stands for.
std::pair<std::size_t, std::string> reference(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size() && text[at] != '"') {
    if (text[at] != '\\') {
      out += text[at++];
      continue;
    }
    if (at + 1 >= text.size() || text[at + 1] != '"') break;
    out += '"';
    at += 2;
  }
  return {at, out};
}

}  // namespace

TEST_CASE("unquote: backslashes before quotes go, everything else stops it, at every place of a chunk") {
  std::mt19937 random(7);
  std::int64_t far = 0, stopped_early = 0;
  for (int round = 0; round < 200000; ++round) {
    std::string text;
    const std::size_t size = random() % 80;
    const std::uint_fast32_t plain = 1 + random() % 60;
    while (text.size() < size) {
      switch (random() % (plain + 4)) {
        case 0:
          text += "\\\"";
          break;
        case 1:
          text += "\\\"";
          break;
        case 2:
          text += random() % 8 == 0 ? "\\n" : "\\\"";
          break;
        case 3:
          text += random() % 8 == 0 ? (random() % 2 == 0 ? "\"" : "\\\\") : "x";
          break;
        default:
          text += static_cast<char>('a' + random() % 26);
      }
    }
    std::string to(text.size() + 16, '.');
    const Unquoted got = copy_unquoted(text.data(), text.data() + text.size(), to.data());
    const auto came = static_cast<std::size_t>(got.from - text.data());
    const std::string out(to.data(), got.to);
    const auto [most, all] = reference(text);
    CAPTURE(text);
    REQUIRE(came <= most);
    // What was taken is right, and no escape is cut in two.
    REQUIRE(reference(text.substr(0, came)) == std::pair(came, out));
    if (came < most) {
      ++stopped_early;
      REQUIRE((got.to == to.data() || text.size() - came < 17));
    }
    if (came > 32) ++far;
  }
#if defined(__x86_64__)
  if (__builtin_cpu_supports("ssse3")) CHECK(far > 1000);
#endif
  CHECK(stopped_early > 0);
}
