// One HTTP request on its way to its answer, which may be whole or a stream. Handlers take an exchange and
// answer it, at once or later, from the loop; they know no socket.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/net/http/request.h"
#include "core/net/send.h"
#include "core/net/service.h"

namespace tk::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

inline constexpr char kJson[] = "application/json";
inline constexpr char kNdjson[] = "application/x-ndjson";
inline constexpr char kSse[] = "text/event-stream";
inline constexpr char kText[] = "text/plain; charset=utf-8";

/// Kafka's or tk's code as an HTTP status (serve.md §3.3).
int status_of(ErrorCode code);
const char* reason_of(int status);

class Exchange {
 public:
  /// Where answers go: a connection, or a test.
  struct Output {
    std::function<void(std::vector<net::Piece>)> send;
    /// The answer is whole; the connection takes its next request, or is closed.
    std::function<void(bool keep_alive)> finished;
    /// Bytes that wait for the peer.
    std::function<std::size_t()> unsent;
  };

  Exchange(net::Service& service, Request request, Output output)
      : service_(service), request_(std::move(request)), output_(std::move(output)) {}

  [[nodiscard]] net::Service& service() const { return service_; }
  [[nodiscard]] const Request& request() const { return request_; }
  [[nodiscard]] Request& request() { return request_; }
  [[nodiscard]] bool is_head() const { return request_.method == "HEAD"; }
  /// Headers that every answer gets (CORS).
  Headers common_headers;

  void respond(int status, const std::string& type, std::string body, Headers headers = {});
  void respond(int status, const std::string& type, Buffer body, Headers headers = {});
  void respond_error(const Error& error, Headers headers = {});
  /// `members`: more members of the error object, as JSON, each beginning with a comma.
  void respond_error(int status, std::string_view code, const std::string& message,
                     const std::string& members = "", Headers headers = {});

  /// A stream: chunked, or for HTTP/1.0 until the connection is closed.
  void begin_stream(const std::string& type, Headers headers = {});
  void stream(Buffer part);
  void end_stream();
  [[nodiscard]] bool streaming() const { return streaming_; }
  [[nodiscard]] std::size_t unsent() const { return output_.unsent(); }
  /// Once, when what was streamed has gone out.
  void when_sent(std::function<void()> then) { on_sent_ = std::move(then); }
  void sent() {
    if (const auto then = std::exchange(on_sent_, {})) then();
  }

  [[nodiscard]] bool gone() const { return gone_; }
  [[nodiscard]] bool ended() const { return ended_; }
  void set_gone() {
    gone_ = true;
    const auto waits_for_room = std::exchange(on_sent_, {});
    if (const auto then = std::exchange(on_gone_, {})) then();
  }
  void when_gone(std::function<void()> then) { on_gone_ = std::move(then); }
  /// The server ends.
  void when_draining(std::function<void()> then) { on_drain_ = std::move(then); }
  void drain() {
    if (const auto then = std::exchange(on_drain_, {})) then();
  }
  [[nodiscard]] int status() const { return status_; }

 private:
  void send_head(int status, const std::string& type, std::optional<std::size_t> length,
                 const Headers& headers, Buffer& out);
  void finish();

  net::Service& service_;
  Request request_;
  Output output_;
  std::function<void()> on_gone_, on_drain_, on_sent_;
  int status_ = 0;
  bool streaming_ = false;
  bool ended_ = false;
  bool gone_ = false;
};

using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace tk::http
