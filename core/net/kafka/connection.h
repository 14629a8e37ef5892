// A connection that speaks Kafka's protocol: frames in, answers out in the order of the requests.
#pragma once

#include <deque>
#include <memory>

#include "core/net/connection.h"
#include "core/net/kafka/call.h"

namespace tk::kafka {

class KafkaConnection final : public net::Connection {
 public:
  KafkaConnection(net::ConnectionHost& host, net::Service& service, Descriptor socket, net::Address peer,
                  net::Address local);

  /// Parked requests are answered with what there is.
  void drain();

 private:
  struct Slot {
    CallPtr call;
    bool done = false;
    std::vector<net::Piece> pieces;
    std::size_t frame_bytes = 0;
    std::int64_t begun_us = 0;
    std::string_view api;
  };

  std::size_t consume(ByteView input) override;
  [[nodiscard]] bool takes_more() const override { return slots_.size() < net::kMostInFlight; }
  [[nodiscard]] bool busy() const override { return !slots_.empty(); }
  [[nodiscard]] std::size_t missing() const override { return missing_; }
  void on_close() override;
  bool take_frame(ByteView frame);
  void finished(const std::shared_ptr<Slot>& slot, Call::Outcome outcome);
  void send_in_order();
  void complain(const std::string& what);

  net::Service& service_;
  Peer peer_;
  std::deque<std::shared_ptr<Slot>> slots_;
  std::size_t missing_ = 0;
  bool sending_ = false;
};

}  // namespace tk::kafka
