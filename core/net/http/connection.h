// A connection that speaks HTTP/1.1: one request at a time, kept open between them.
#pragma once

#include <memory>

#include "core/net/connection.h"
#include "core/net/http/exchange.h"

namespace tk::http {

class HttpConnection final : public net::Connection {
 public:
  HttpConnection(net::ConnectionHost& host, net::Service& service, Descriptor socket, net::Address peer,
                 net::Address local);

  /// What waits is answered with what there is; streams end.
  void drain();

 private:
  std::size_t consume(ByteView input) override;
  [[nodiscard]] bool takes_more() const override { return exchange_ == nullptr; }
  [[nodiscard]] bool unfinished() const override {
    return exchange_ == nullptr && (parser_.begun() || net::Connection::unfinished());
  }
  [[nodiscard]] bool busy() const override { return exchange_ != nullptr; }
  [[nodiscard]] std::int64_t stall_limit_ms() const override;
  void on_close() override;
  void on_sent() override;
  void begin(Request request);
  ExchangePtr new_exchange(Request request);
  void refuse(int status, std::string_view code, const std::string& message);
  void finished(bool keep_alive);

  net::Service& service_;
  Parser parser_;
  ExchangePtr exchange_;
  std::size_t held_body_ = 0;
};

}  // namespace tk::http
