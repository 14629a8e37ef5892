// HTTP requests as the router has them, and the parser that makes them of bytes (Boost.Beast, fed by hand).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/bytes.h"

namespace tk::http {

struct Request {
  std::string method;
  /// Decoded, without the query.
  std::string path;
  /// Decoded; of parameters given twice the last counts.
  std::map<std::string, std::string> query;
  /// By lower-case name.
  std::map<std::string, std::string> headers;
  std::string body;
  bool keep_alive = true;
  /// The Host header stands there twice: nobody can say for whom the request is.
  bool ambiguous_host = false;
  bool is_1_0 = false;

  [[nodiscard]] std::string header(const std::string& name) const {
    const auto at = headers.find(name);
    return at == headers.end() ? "" : at->second;
  }
  [[nodiscard]] std::optional<std::string> parameter(const std::string& name) const {
    const auto at = query.find(name);
    return at == query.end() ? std::nullopt : std::optional(at->second);
  }
};

/// Takes one request. For one connection.
class Parser {
 public:
  Parser(std::size_t head_limit, std::size_t body_limit);
  ~Parser();

  enum class State : std::uint8_t { more, done, bad, head_too_large, body_too_large };
  /// Takes bytes off the front of `input`; `used` says how many.
  State feed(ByteView input, std::size_t& used);
  /// The request, when it is done; the next one can be fed then.
  Request take();
  /// The head is there, and asks whether the body may be sent (Expect: 100-continue). True once.
  bool wants_continue();
  [[nodiscard]] std::size_t body_bytes() const;
  /// A request has begun and is not done.
  [[nodiscard]] bool begun() const;

 private:
  struct Impl;
  std::size_t head_limit_;
  std::size_t body_limit_;
  std::unique_ptr<Impl> impl_;
};

/// "%41" to "A", with `plus` also "+" to " "; nothing if it is malformed.
std::optional<std::string> decode_percent(std::string_view text, bool plus);

}  // namespace tk::http
