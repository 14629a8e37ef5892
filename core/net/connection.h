// One accepted socket: bytes in, pieces out, and the limits of serve.md §1.4. What the bytes mean is the
// derived class's. No buffer belongs to a connection that waits for its peer or for an answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/io/descriptor.h"
#include "core/net/loop.h"
#include "core/net/options.h"
#include "core/net/send.h"

namespace tk::net {

/// What all connections of a server share. For the loop.
class ConnectionHost {
 public:
  virtual ~ConnectionHost() = default;
  virtual Loop& loop() = 0;
  virtual const ServerOptions& options() = 0;
  virtual void closed(class Connection& connection) = 0;
  virtual void sent(std::uint64_t from_files, std::uint64_t from_memory) = 0;
  virtual void received(std::uint64_t bytes) = 0;
  /// Bytes of requests that are held; whoever is over the limit is not read.
  std::size_t request_bytes = 0;
  [[nodiscard]] bool is_crowded() {
    return request_bytes >= static_cast<std::size_t>(options().request_memory);
  }
  /// Bytes of answers in memory that wait for their readers.
  std::size_t unsent_bytes = 0;
  /// The one that is read all the same, so that one frame always gets in.
  const class Connection* favoured = nullptr;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(ConnectionHost& host, Descriptor socket, Address peer, Address local);
  virtual ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();
  /// At once; what is unsent is dropped.
  void close();
  /// When what is to be sent has gone out.
  void close_when_sent();
  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] const Address& peer() const { return peer_; }
  [[nodiscard]] const Address& local() const { return local_; }
  /// Closes it if it has been idle or stalled too long, and reads on if it was held up. Called every second.
  void check(std::int64_t now_ms);
  /// Reads on, if it may.
  void resume();
  /// Nothing is being answered or sent.
  [[nodiscard]] bool idle_now() const { return !busy() && out_.empty(); }

 protected:
  /// Takes whole requests off the front of `input`; returns how many bytes it took. After a call of
  /// close() nothing counts.
  virtual std::size_t consume(ByteView input) = 0;
  /// False while no further request is taken.
  [[nodiscard]] virtual bool takes_more() const = 0;
  /// True while a request is being answered: then it is not idle.
  [[nodiscard]] virtual bool busy() const = 0;
  /// How many bytes the request that has begun still needs, as far as it is known.
  [[nodiscard]] virtual std::size_t missing() const { return 0; }
  /// Called once, when it is closed.
  virtual void on_close() {}
  /// A request has begun to come and is not whole.
  [[nodiscard]] virtual bool unfinished() const { return !input_.empty(); }
  /// To be called when a request is whole: the time of the next one counts from its own first byte.
  void took_request() { begun_ms_ = 0; }
  /// How long an unfinished request may rest without a byte, ms.
  [[nodiscard]] virtual std::int64_t stall_limit_ms() const { return 30000; }

  void send(std::vector<Piece> pieces);
  [[nodiscard]] std::size_t unsent() const { return out_.heap_bytes(); }
  [[nodiscard]] bool all_sent() const { return out_.empty(); }
  /// The answers that wait have gone out.
  virtual void on_sent() {}
  [[nodiscard]] ConnectionHost& host() { return host_; }

 private:
  void wait_readable();
  void read();
  bool read_once();
  std::size_t consume_or_close(ByteView input);
  void flush();
  [[nodiscard]] bool is_too_slow(std::int64_t now_ms) const;
  [[nodiscard]] bool may_read() const;
  void hold(std::size_t bytes);
  void note_begun();
  void note_unsent();

  ConnectionHost& host_;
  Descriptor socket_;
  Address peer_;
  Address local_;
  std::unique_ptr<Loop::Watch> watch_;
  Buffer input_;
  std::size_t held_ = 0;         // of request_bytes
  std::size_t held_unsent_ = 0;  // of unsent_bytes
  SendQueue out_;
  bool closed_ = false;
  bool closing_ = false;
  bool reading_ = false;
  bool writing_ = false;
  bool in_read_ = false;
  bool more_waits_ = false;    // bytes that are not taken now
  std::int64_t begun_ms_ = 0;  // the first byte of the unfinished request; 0: none
  std::uint64_t arrived_ = 0;  // of it
  std::int64_t last_in_ms_ = 0;
  std::int64_t last_out_ms_ = 0;
};

}  // namespace tk::net
