#include "core/net/http/request.h"

// Asio 1.18 forgets <utility> under C++20.
#include <utility>

#include <algorithm>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace tk::http {
namespace beast = boost::beast::http;
using BodyParser = beast::request_parser<beast::string_body>;

struct Parser::Impl {
  std::unique_ptr<BodyParser> parser;
  bool asked_to_continue = false;
  bool in_chunks = false;
};

namespace {

/// Whoever waits for a chunk's head waits for at least "0\r\n\r\n". Beast takes it for granted that it is not
/// asked again before, and asserts it.
constexpr std::size_t kLeastRestOfChunks = 5;

}  // namespace

Parser::Parser(std::size_t head_limit, std::size_t body_limit)
    : head_limit_(head_limit), body_limit_(body_limit), impl_(std::make_unique<Impl>()) {}
Parser::~Parser() = default;

Parser::State Parser::feed(ByteView input, std::size_t& used) {
  used = 0;
  if (!impl_->parser) {
    impl_->parser = std::make_unique<BodyParser>();
    impl_->parser->header_limit(static_cast<std::uint32_t>(head_limit_));
    impl_->parser->body_limit(body_limit_);
    impl_->parser->eager(true);
    impl_->asked_to_continue = impl_->in_chunks = false;
  }
  if (impl_->in_chunks && input.size() < kLeastRestOfChunks) return State::more;
  BodyParser& parser = *impl_->parser;
  while (used < input.size() && !parser.is_done()) {
    boost::system::error_code error;
    const std::size_t took =
        parser.put(boost::asio::const_buffer(input.data() + used, input.size() - used), error);
    used += took;
    if (error == beast::error::need_more) {
      impl_->in_chunks = parser.is_header_done();
      break;
    }
    if (error == beast::error::header_limit) return State::head_too_large;
    if (error == beast::error::body_limit) return State::body_too_large;
    if (error) return State::bad;
    if (took == 0) break;
  }
  if (parser.is_done()) return State::done;
  // A head that does not end is not waited for.
  if (!parser.is_header_done() && input.size() - used > head_limit_) return State::head_too_large;
  return State::more;
}

bool Parser::wants_continue() {
  if (!impl_->parser || !impl_->parser->is_header_done() || impl_->asked_to_continue) return false;
  impl_->asked_to_continue = true;
  return boost::beast::iequals(impl_->parser->get()[beast::field::expect], "100-continue");
}

bool Parser::begun() const {
  return impl_->parser != nullptr;
}

std::size_t Parser::body_bytes() const {
  return impl_->parser ? impl_->parser->get().body().size() : 0;
}

std::optional<std::string> decode_percent(std::string_view text, bool plus) {
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (text.size() - i < 3 || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return std::nullopt;
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += plus && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

Request Parser::take() {
  const std::unique_ptr<BodyParser> parser = std::move(impl_->parser);
  auto message = parser->release();
  Request request;
  request.method = std::string(message.method_string());
  request.keep_alive = message.keep_alive();
  request.is_1_0 = message.version() < 11;
  for (const auto& field : message) {
    std::string name(field.name_string());
    std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    if (name == "host" && request.headers.contains(name)) request.ambiguous_host = true;
    request.headers[name] = std::string(field.value());
  }
  const std::string target(message.target());
  const std::size_t mark = target.find('?');
  // A path that is malformed is one that there is not.
  request.path = decode_percent(std::string_view(target).substr(0, mark), false).value_or("");
  std::string_view query = mark == std::string::npos ? "" : std::string_view(target).substr(mark + 1);
  while (!query.empty()) {
    const auto end = static_cast<std::size_t>(std::ranges::find(query, '&') - query.begin());
    const std::string_view part = query.substr(0, end);
    const std::size_t equals = std::min(part.find('='), part.size());
    const auto name = decode_percent(part.substr(0, equals), true);
    const auto value = decode_percent(part.substr(std::min(equals + 1, part.size())), true);
    if (name && value && !name->empty()) request.query[*name] = *value;
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  request.body = std::move(message.body());
  return request;
}

}  // namespace tk::http
