#include "core/net/kafka/call.h"

namespace tk::kafka {

void Call::finish(net::Chain& chain) {
  const std::size_t size = chain.size() - sizeof(std::int32_t);
  std::vector<net::Piece> pieces = chain.take();
  store_be(pieces.front().bytes.data(), static_cast<std::int32_t>(size));
  end({Outcome::Kind::answer, std::move(pieces), error_});
}

void Call::end(Outcome outcome) {
  if (ended_) return;
  ended_ = true;
  on_gone_ = {};
  on_drain_ = {};
  frame_.reset();
  if (!gone_) done_(std::move(outcome));
}

}  // namespace tk::kafka
