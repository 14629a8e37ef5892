// Requests over HTTP: the head and the body in pieces are the same request as in one, and a head has its
// limit. The first byte is the size of the pieces.
#include <algorithm>
#include <string>
#include <vector>

#include "core/net/http/request.h"
#include "tests/fuzz/fuzz.h"

namespace tk::fuzz {
namespace {

constexpr std::size_t kHead = 4096;
constexpr std::size_t kBody = 8192;

struct Seen {
  http::Parser::State last = http::Parser::State::more;
  std::vector<http::Request> requests;
};

/// As a connection does: what is not taken stays at the front.
Seen feed(ByteView bytes, std::size_t piece) {
  Seen seen;
  http::Parser parser(kHead, kBody);
  std::string waiting;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    waiting += as_text(bytes.subspan(at, std::min(piece, bytes.size() - at)));
    for (bool more = true; more && !waiting.empty();) {
      std::size_t used = 0;
      seen.last = parser.feed(as_bytes(waiting), used);
      require(used <= waiting.size(), "no more is taken than there is");
      waiting.erase(0, used);
      more = seen.last == http::Parser::State::done;
      if (more) seen.requests.push_back(parser.take());
      if (seen.last != http::Parser::State::done && seen.last != http::Parser::State::more) return seen;
      require(parser.body_bytes() <= kBody, "a body has its limit");
    }
    require(waiting.size() <= kHead + piece, "a head has its limit");
  }
  return seen;
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk;
  fuzz::Input input(data, size);
  const std::size_t piece = 1 + input.byte() % 64U;
  const fuzz::Seen parts = fuzz::feed(input.rest(), piece);
  const fuzz::Seen whole = fuzz::feed(input.rest(), std::max<std::size_t>(input.rest().size(), 1));
  const std::size_t both = std::min(parts.requests.size(), whole.requests.size());
  for (std::size_t i = 0; i < both; ++i) {
    const http::Request& a = parts.requests[i];
    const http::Request& b = whole.requests[i];
    fuzz::require(a.method == b.method && a.path == b.path && a.query == b.query && a.headers == b.headers &&
                      a.body == b.body,
                  "a request in pieces is the same");
    fuzz::require(a.path.find('\0') == std::string::npos || !a.path.empty(), "a path is text");
  }
  return 0;
}
