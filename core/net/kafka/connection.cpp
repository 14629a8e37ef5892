#include "core/net/kafka/connection.h"

#include <fmt/format.h>

#include <chrono>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/net/kafka/api.h"
#include "core/net/metrics.h"

namespace tk::kafka {
namespace {

/// An API key, a version, a correlation id.
constexpr std::int32_t kShortestFrame = 8;
/// Of larger requests it is counted what they take while they wait: some times what came over the wire.
constexpr std::size_t kSmallFrame = 2048;
constexpr std::size_t kDecodedTimes = 8;

/// What the first bytes of a connection look like, if not like a frame.
std::string guess(ByteView bytes) {
  const std::string_view text = as_text(bytes.first(std::min<std::size_t>(bytes.size(), 8)));
  for (const std::string_view method : {"GET ", "POST ", "PUT ", "HEAD ", "DELETE ", "OPTIONS "}) {
    if (text.starts_with(method.substr(0, 4))) return "; it looks like HTTP, whose port is another one";
  }
  if (text.size() >= 2 && text[0] == '\x16' && text[1] == '\x03')
    return "; it looks like TLS, which is not spoken here";
  return "";
}

/// How many complaints are told.
struct Complaints {
  explicit Complaints(net::Service&) {}
  static constexpr int kMostAtOnce = 20;
  static constexpr std::int64_t kThenEveryMs = 60000;
  int said = 0;
  std::int64_t last_ms = 0;

  bool may_say(std::int64_t now_ms) {
    if (said >= kMostAtOnce && now_ms - last_ms < kThenEveryMs) return false;
    ++said;
    last_ms = now_ms;
    return true;
  }
};

std::int64_t monotonic_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

KafkaConnection::KafkaConnection(net::ConnectionHost& host, net::Service& service, Descriptor socket,
                                 net::Address peer, net::Address local)
    : Connection(host, std::move(socket), peer, local), service_(service), peer_{peer, local} {}

// A client that is wrong is so again and again: its lines must not fill a disk, nor a pipe that nobody reads.
void KafkaConnection::complain(const std::string& what) {
  if (!service_.part<Complaints>().may_say(monotonic_ms())) return;
  service_.warn(Error(ErrorCode::invalid_request,
                      fmt::format("{}: {}; the connection is closed", peer_.address.text(), what)));
}

std::size_t KafkaConnection::consume(ByteView input) {
  std::size_t used = 0;
  missing_ = 0;
  while (takes_more() && input.size() - used >= 4) {
    const ByteView rest = input.subspan(used);
    const auto length = load_be<std::int32_t>(rest.data());
    if (length < kShortestFrame || length > host().options().max_frame) {
      complain(fmt::format("a frame of {} bytes{}", length, guess(rest)));
      close();
      return 0;
    }
    const std::size_t whole = 4 + static_cast<std::size_t>(length);
    if (rest.size() < whole) {
      missing_ = whole - rest.size();
      break;
    }
    used += whole;
    took_request();
    if (!take_frame(rest.subspan(4, whole - 4))) {
      close();
      return 0;
    }
    if (closed()) return 0;
  }
  return used;
}

bool KafkaConnection::take_frame(ByteView frame) {
  std::size_t size = 0;
  const auto header = read_request_header(frame, &is_flexible, size);
  if (!header) return false;
  const ApiRow* const api = find_api(header->api_key);
  const bool versions = api != nullptr && header->api_key == kApiVersionsKey;
  if (api == nullptr || (!api->type.has(header->api_version) && !versions)) {
    complain(fmt::format("client '{}' asks for {} in version {}, which is not served",
                         printable(header->client_id.value_or("")),
                         api == nullptr ? fmt::format("API {}", header->api_key) : std::string(api->name),
                         header->api_version));
    return false;
  }
  auto slot = std::make_shared<Slot>();
  slot->api = api->name;
  slot->begun_us = monotonic_us();
  std::shared_ptr<Buffer> kept;
  ByteView body = frame.subspan(size);
  if (api->keeps_frame) {
    kept = std::make_shared<Buffer>();
    kept->append(frame);
    body = kept->view().subspan(size);
    slot->frame_bytes = frame.size();
  } else if (frame.size() > kSmallFrame) {
    slot->frame_bytes = frame.size() * kDecodedTimes;
  }
  host().request_bytes += slot->frame_bytes;
  ++service_.requests;
  if (service_.options().log_requests) {
    service_.events().request(fmt::format(
        "{} {} v{} correlation {} client '{}' {} bytes", peer_.address.text(), api->name, header->api_version,
        header->correlation_id, printable(header->client_id.value_or("")), frame.size()));
  }
  const std::weak_ptr<KafkaConnection> self = std::static_pointer_cast<KafkaConnection>(shared_from_this());
  const std::weak_ptr<Slot> weak = slot;
  slot->call = std::make_shared<Call>(service_, peer_, *header, std::move(kept), body,
                                      [self, weak](Call::Outcome outcome) {
                                        const auto connection = self.lock();
                                        const auto mine = weak.lock();
                                        if (connection && mine)
                                          connection->finished(mine, std::move(outcome));
                                      });
  slots_.push_back(slot);
  const CallPtr call = slot->call;
  try {
    api->run(call);
  } catch (const std::exception& error) {
    service_.warn_of(error);
    call->close();
  }
  return true;
}

void KafkaConnection::finished(const std::shared_ptr<Slot>& slot, Call::Outcome outcome) {
  host().request_bytes -= std::exchange(slot->frame_bytes, 0);
  if (closed()) return;
  if (outcome.kind == Call::Outcome::Kind::close) return close();
  slot->done = true;
  const double seconds = static_cast<double>(monotonic_us() - slot->begun_us - slot->call->parked_us()) / 1e6;
  service_.part<net::Metrics>().answered("kafka", slot->api, std::max(seconds, 0.0), outcome.error);
  slot->pieces = std::move(outcome.pieces);
  send_in_order();
}

void KafkaConnection::send_in_order() {
  if (sending_) return;
  sending_ = true;
  while (!closed() && !slots_.empty() && slots_.front()->done) {
    const std::shared_ptr<Slot> slot = slots_.front();
    slots_.pop_front();
    send(std::move(slot->pieces));
  }
  sending_ = false;
  if (!closed()) resume();
}

void KafkaConnection::on_close() {
  const auto slots = std::exchange(slots_, {});
  for (const std::shared_ptr<Slot>& slot : slots) {
    host().request_bytes -= std::exchange(slot->frame_bytes, 0);
    slot->call->set_gone();
  }
}

void KafkaConnection::drain() {
  const auto slots = slots_;
  for (const std::shared_ptr<Slot>& slot : slots) slot->call->drain();
}

}  // namespace tk::kafka
