#include "core/net/http/connection.h"

#include "core/net/http/router.h"
#include "core/net/metrics.h"

namespace tk::http {
namespace {

/// The request line and the headers (serve.md §1.4).
constexpr std::size_t kLargestHead = 16U << 10;

}  // namespace

HttpConnection::HttpConnection(net::ConnectionHost& host, net::Service& service, Descriptor socket,
                               net::Address peer, net::Address local)
    : Connection(host, std::move(socket), peer, local),
      service_(service),
      parser_(kLargestHead, static_cast<std::size_t>(service.options().max_frame)) {}

std::int64_t HttpConnection::stall_limit_ms() const {
  return parser_.body_bytes() > 0 ? 30000 : 10000;
}

std::size_t HttpConnection::consume(ByteView input) {
  std::size_t used = 0;
  while (exchange_ == nullptr && used < input.size()) {
    std::size_t took = 0;
    const Parser::State state = parser_.feed(input.subspan(used), took);
    used += took;
    host().request_bytes = host().request_bytes - held_body_ + parser_.body_bytes();
    held_body_ = parser_.body_bytes();
    switch (state) {
      case Parser::State::done:
        begin(parser_.take());
        break;
      case Parser::State::bad:
        refuse(400, "INVALID_REQUEST", "this is no HTTP request");
        return used;
      case Parser::State::head_too_large:
        refuse(431, "INVALID_REQUEST", "the head of the request is larger than 16 KiB");
        return used;
      case Parser::State::body_too_large:
        refuse(413, "MESSAGE_TOO_LARGE", "the body is larger than --max-frame");
        return used;
      case Parser::State::more:
        if (parser_.wants_continue()) {
          Buffer go_on;
          go_on.append(std::string_view("HTTP/1.1 100 Continue\r\n\r\n"));
          std::vector<net::Piece> pieces;
          pieces.push_back(net::Piece::of(std::move(go_on)));
          send(std::move(pieces));
        }
        return used;
    }
    if (closed()) return 0;
  }
  return used;
}

void HttpConnection::refuse(int status, std::string_view code, const std::string& message) {
  Request nothing;
  nothing.method = "GET";
  nothing.keep_alive = false;
  new_exchange(std::move(nothing))->respond_error(status, code, message);
}

void HttpConnection::begin(Request request) {
  const ExchangePtr exchange = new_exchange(std::move(request));
  try {
    route(exchange, local());
  } catch (const std::exception& error) {
    service_.warn_of(error);
    exchange->respond_error(Error(ErrorCode::unknown_server_error, "the request failed"));
  }
}

ExchangePtr HttpConnection::new_exchange(Request request) {
  took_request();
  const std::weak_ptr<HttpConnection> weak = std::static_pointer_cast<HttpConnection>(shared_from_this());
  Exchange::Output output;
  output.send = [weak](std::vector<net::Piece> pieces) {
    if (const auto self = weak.lock()) self->send(std::move(pieces));
  };
  output.finished = [weak](bool keep_alive) {
    if (const auto self = weak.lock()) self->finished(keep_alive);
  };
  output.unsent = [weak] {
    const auto self = weak.lock();
    return self ? self->unsent() : 0;
  };
  exchange_ = std::make_shared<Exchange>(service_, std::move(request), std::move(output));
  ++service_.requests;
  return exchange_;
}

void HttpConnection::finished(bool keep_alive) {
  const ExchangePtr kept = std::exchange(exchange_, nullptr);
  const int status = kept ? kept->status() : 0;
  service_.part<net::Metrics>().answered("http", "http", 0,
                                         static_cast<std::int16_t>(status >= 400 ? status : 0));
  host().request_bytes -= std::exchange(held_body_, 0);
  if (!keep_alive || service_.draining()) return close_when_sent();
  // The next request may be there already; it is looked at when this call is over.
  service_.loop().post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->resume();
  });
}

void HttpConnection::on_close() {
  host().request_bytes -= std::exchange(held_body_, 0);
  if (const ExchangePtr kept = std::exchange(exchange_, nullptr)) kept->set_gone();
}

void HttpConnection::on_sent() {
  if (const ExchangePtr kept = exchange_) kept->sent();
}

void HttpConnection::drain() {
  if (const ExchangePtr kept = exchange_) kept->drain();
}

}  // namespace tk::http
