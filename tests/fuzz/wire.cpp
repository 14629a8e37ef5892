// Kafka's wire protocol: the frame reader and each request's decoder. The first byte chooses: a frame as it
// comes over a connection, or the body of one API in one version. What is read is written, and reads as the
// same again; nothing is allocated beyond what a frame may take.
#include "core/net/kafka/api.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/wire_apis.h"

namespace tk::fuzz {
namespace {

template <class Request>
void check_body(ByteView body, std::int16_t version) {
  auto message = kafka::read_message<Request>(body, version);
  if (!message) return;
  net::Chain chain;
  kafka::write_message(chain, *message, version);
  Buffer written;
  for (net::Piece& piece : chain.take()) written.append(piece.bytes.view());
  // (Unknown tagged fields are left out, absent ones made whole.)
  auto again = kafka::read_message<Request>(written.view(), version);
  require(again.has_value(), "what was written can be read");
  require(*again == *message, "and is the same");
}

void check(std::int16_t key, std::int16_t version, ByteView body) {
  test::for_each_api([&]<class Request, class Response>(const char*) {
    if (Request::kType.key != key || !Request::kType.has(version)) return;
    check_body<Request>(body, version);
  });
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk;
  fuzz::Input input(data, size);
  const std::uint8_t choice = input.byte();
  if (choice == 0xff) {
    std::size_t head = 0;
    const auto header = kafka::read_request_header(input.rest(), &kafka::is_flexible, head);
    if (!header) return 0;
    fuzz::require(head <= input.rest().size(), "a header lies within its frame");
    fuzz::check(header->api_key, header->api_version, input.rest().subspan(head));
    return 0;
  }
  const auto apis = kafka::apis();
  const kafka::MessageType& type = apis[choice % apis.size()].type;
  const auto version = static_cast<std::int16_t>(type.first + input.byte() % (type.last - type.first + 1));
  fuzz::check(type.key, version, input.rest());
  return 0;
}
