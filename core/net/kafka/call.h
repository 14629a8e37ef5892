// One request on its way: what was asked, by whom, and how it is answered. Handlers take a call and answer it
// at once or later, from the loop; they know no socket, so tests drive them without one.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/net/kafka/codec.h"
#include "core/net/options.h"
#include "core/net/service.h"

namespace tk::kafka {

/// Whoever is at the other end of a connection.
struct Peer {
  net::Address address;
  /// Where the connection came in: what Metadata says without --advertise.
  net::Address local;
};

class Call : public std::enable_shared_from_this<Call> {
 public:
  struct Outcome {
    enum class Kind : std::uint8_t {
      answer,
      nothing,  // acks=0
      close,    // the connection is closed without a word
    };
    Kind kind = Kind::answer;
    std::vector<net::Piece> pieces;
    /// For the metrics: the first error code in the answer.
    std::int16_t error = 0;
  };
  using Done = std::function<void(Outcome)>;

  Call(net::Service& service, const Peer& peer, RequestHeader header, std::shared_ptr<Buffer> frame,
       ByteView body, Done done)
      : service_(service),
        peer_(peer),
        header_(std::move(header)),
        frame_(std::move(frame)),
        body_(body),
        done_(std::move(done)) {}

  [[nodiscard]] net::Service& service() const { return service_; }
  [[nodiscard]] const Peer& peer() const { return peer_; }
  [[nodiscard]] std::int16_t version() const { return header_.api_version; }
  [[nodiscard]] const RequestHeader& header() const { return header_; }
  [[nodiscard]] std::string client_id() const { return header_.client_id.value_or(""); }
  [[nodiscard]] ByteView body() const { return body_; }
  /// The frame that the body lies in, for those who need its bytes after the handler has returned; null
  /// unless the API asks for it.
  [[nodiscard]] const std::shared_ptr<Buffer>& frame() const { return frame_; }

  /// The answer, once. Without tagged fields in its header for `plain_header`.
  template <class Message>
  void answer(Message& message, std::int16_t version, bool plain_header = false) {
    net::Chain chain;
    Writer head(chain, version, true);
    head.write_int<std::int32_t>(0);
    head.write_int<std::int32_t>(header_.correlation_id);
    if (Message::kType.flexible(version) && !plain_header) head.write_uvarint(0);
    write_message(chain, message, version);
    finish(chain);
  }
  template <class Message>
  void answer(Message& message) {
    answer(message, header_.api_version);
  }
  void answer_nothing() { end({Outcome::Kind::nothing, {}, 0}); }
  void close() { end({Outcome::Kind::close, {}, 0}); }
  void note_error(std::int16_t code) {
    if (error_ == 0) error_ = code;
  }

  /// The connection has gone: nobody waits for the answer. For any thread.
  [[nodiscard]] bool gone() const { return gone_.load(); }
  void set_gone() {
    gone_.store(true);
    if (const auto then = std::exchange(on_gone_, {})) then();
  }
  void when_gone(std::function<void()> then) { on_gone_ = std::move(then); }
  /// The server ends: a parked call is answered with what there is.
  void when_draining(std::function<void()> then) { on_drain_ = std::move(then); }
  void drain() {
    if (const auto then = std::exchange(on_drain_, {})) then();
  }
  [[nodiscard]] bool ended() const { return ended_; }
  /// Time that it waited for others, which is not the server's.
  void add_parked(std::int64_t us) { parked_us_ += us; }
  [[nodiscard]] std::int64_t parked_us() const { return parked_us_; }

 private:
  void finish(net::Chain& chain);
  void end(Outcome outcome);

  net::Service& service_;
  Peer peer_;
  RequestHeader header_;
  std::shared_ptr<Buffer> frame_;
  ByteView body_;
  Done done_;
  std::function<void()> on_gone_;
  std::function<void()> on_drain_;
  std::int16_t error_ = 0;
  std::int64_t parked_us_ = 0;
  bool ended_ = false;
  std::atomic<bool> gone_{false};
};

using CallPtr = std::shared_ptr<Call>;

}  // namespace tk::kafka
