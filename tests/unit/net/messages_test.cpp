// Our field lists against Kafka's own definitions, and every recorded message decoded and encoded again.
#include <doctest/doctest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "core/net/http/request.h"
#include "core/net/kafka/api.h"
#include "tests/support/mutation.h"
#include "tests/support/wire.h"

namespace tk::kafka {
namespace {

using nlohmann::json;

/// Writes down the fields of a message in one version, as text.
struct Describer {
  std::int16_t version = 0;
  bool flexible = false;
  std::string fields = "";
  std::string tags = "";

  template <class T>
  void operator()(T& field, Versions versions = {}, NullableFrom nullable = {}) {
    if (versions.has(version)) fields += type_of(field, version >= nullable.version) + ",";
  }
  template <class T>
  void tag(std::uint32_t number, T& field, const T&, Versions versions = {}) {
    if (versions.has(version)) tags += std::to_string(number) + ":" + type_of(field, true) + ",";
  }

  template <class T>
  std::string type_of(T& field, bool nullable) {
    const std::string compact = flexible ? "compact_" : "";
    const std::string null = nullable ? "nullable_" : "";
    if constexpr (std::same_as<T, bool>)
      return "boolean";
    else if constexpr (std::integral<T>)
      return "int" + std::to_string(8 * sizeof(T));
    else if constexpr (std::same_as<T, Uuid>)
      return "uuid";
    else if constexpr (std::same_as<T, std::string>)
      return compact + "string";
    else if constexpr (std::same_as<T, std::optional<std::string>>)
      return compact + null + "string";
    else if constexpr (std::same_as<T, Bytes>)
      return compact + "bytes";
    else if constexpr (std::same_as<T, std::optional<Bytes>>)
      return compact + null + "bytes";
    else if constexpr (std::same_as<T, Records>)
      return compact + "records";
    else if constexpr (Array<T>)
      return array_of<typename T::value_type>(false);
    else if constexpr (Nullable<T>) {
      if constexpr (Array<typename T::value_type>)
        return array_of<typename T::value_type::value_type>(nullable);
      else
        return "?" + describe<typename T::value_type>();
    } else {
      static_cast<void>(field);
      return describe<T>();
    }
  }
  template <class E>
  std::string array_of(bool nullable) {
    E element{};
    return "[" + type_of(element, false) + "]" + (flexible ? "compact" : "int32") + (nullable ? "?" : "");
  }
  template <class T>
  std::string describe() {
    Describer inner{version, flexible};
    T value{};
    value.fields(inner);
    return "(" + inner.fields + (flexible ? "|" + inner.tags : "") + ")";
  }
};

std::string type_text(const json& type);

std::string fields_text(const json& list) {
  std::string fields, tags;
  bool flexible = false;
  for (const json& field : list) {
    if (!field.contains("tagged")) {
      fields += type_text(field["type"]) + ",";
      continue;
    }
    flexible = true;
    std::map<int, std::string> sorted;
    for (const auto& [number, tagged] : field["tagged"].items())
      sorted[std::stoi(number)] = type_text(tagged["type"]);
    for (const auto& [number, text] : sorted) tags += std::to_string(number) + ":" + text + ",";
  }
  return "(" + fields + (flexible ? "|" + tags : "") + ")";
}

std::string type_text(const json& type) {
  if (type.is_array()) return fields_text(type);
  if (type.is_object()) {
    const bool nullable = type.value("nullable", false);
    if (type.contains("struct")) return (nullable ? "?" : "") + fields_text(type["struct"]);
    return "[" + type_text(type["array"]) + "]" + type["encoding"].get<std::string>() + (nullable ? "?" : "");
  }
  std::string text = type.get<std::string>();
  // Whether records may be null their reader says.
  if (text.ends_with("records")) text = text.starts_with("compact") ? "compact_records" : "records";
  return text;
}

template <class Message>
void compare(const json& definition, const std::string& name) {
  CAPTURE(name);
  CHECK(definition["key"].get<int>() == Message::kType.key);
  CHECK(definition["first"].get<int>() == Message::kType.first);
  CHECK(definition["last"].get<int>() == Message::kType.last);
  for (std::int16_t version = Message::kType.first; version <= Message::kType.last; ++version) {
    CAPTURE(version);
    Describer describer{version, Message::kType.flexible(version)};
    CHECK(describer.template describe<Message>() ==
          fields_text(definition["versions"][std::to_string(version)]));
  }
}

/// Decodes a body and encodes it again; how many bytes stood behind it.
template <class Message>
std::size_t round_trip(ByteView body, std::int16_t version) {
  auto message = read_message<Message>(body, version);
  REQUIRE(message);
  net::Chain chain;
  write_message(chain, *message, version);
  Buffer again;
  for (net::Piece& piece : chain.take()) again.append(piece.bytes.view());
  REQUIRE(again.size() <= body.size());
  CHECK(as_text(again.view()) == as_text(body.first(again.size())));
  return body.size() - again.size();
}

TEST_CASE("every version of every message has the fields of Kafka's definitions") {
  const json definitions = json::parse(test::wire_fixture("protocol-4.4.json.zst"));
  test::for_each_api([&]<class Request, class Response>(const std::string& name) {
    compare<Request>(definitions[name + "Request"], name + "Request");
    compare<Response>(definitions[name + "Response"], name + "Response");
  });
}

TEST_CASE("recorded messages are decoded, and encoded to the same bytes") {
  std::map<std::int16_t, int> seen;
  const std::vector<test::Exchange> all = test::recorded_exchanges();
  test::for_each_api([&]<class Request, class Response>(const std::string& name) {
    CAPTURE(name);
    for (const test::Exchange& one : all) {
      if (one.key != Request::kType.key || !Request::kType.has(one.version)) continue;
      CAPTURE(one.version);
      ++seen[one.key];
      const bool flexible = Request::kType.flexible(one.version);
      if (!one.is_request) {
        const std::size_t header = flexible && one.key != kApiVersionsKey ? 5 : 4;
        CHECK(round_trip<Response>(ByteView(one.bytes).subspan(header), one.version) == 0);
        continue;
      }
      std::size_t size = 0;
      const auto header = read_request_header(
          one.bytes, [](std::int16_t, std::int16_t version) { return Request::kType.flexible(version); },
          size);
      REQUIRE(header);
      CHECK(header->api_key == one.key);
      // librdkafka leaves three bytes behind a Metadata request.
      CHECK(round_trip<Request>(ByteView(one.bytes).subspan(size), one.version) <= (one.key == 3 ? 3U : 0U));
    }
  });
  CHECK(seen.size() == 39);
}

TEST_CASE("a message that is cut anywhere is refused, and one with a wrong count takes no memory") {
  for (const test::Exchange& one : test::recorded_exchanges()) {
    if (!one.is_request || one.bytes.size() > 400) continue;
    test::for_each_api([&]<class Request, class Response>(const std::string&) {
      if (one.key != Request::kType.key || !Request::kType.has(one.version)) return;
      std::size_t size = 0;
      read_request_header(
          one.bytes, [](std::int16_t, std::int16_t version) { return Request::kType.flexible(version); },
          size);
      const ByteView body = ByteView(one.bytes).subspan(size);
      for (std::size_t cut = 0; cut < body.size(); cut += 3)
        read_message<Request>(body.first(cut), one.version);
    });
  }
  // Two thousand million topics in a frame of 20 bytes.
  const std::vector<std::uint8_t> bomb = {0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0,
                                          0,    0,    0,    0,    0, 0, 0, 0, 0, 0};
  CHECK_FALSE(read_message<MetadataRequest>(bomb, 1));
  CHECK_FALSE(
      read_message<MetadataRequest>(std::vector<std::uint8_t>{0xff, 0xff, 0xff, 0xff, 0xff, 0x0f}, 12));
}

TEST_CASE("tagged fields must rise and be as long as they say; unknown ones are stepped over") {
  // ApiVersions v3: name "a", version "1".
  const auto parse = [](std::vector<std::uint8_t> tags) {
    std::vector<std::uint8_t> body = {2, 'a', 2, '1'};
    body.insert(body.end(), tags.begin(), tags.end());
    return read_message<ApiVersionsRequest>(body, 3).has_value();
  };
  CHECK(parse({0}));
  CHECK(parse({2, 5, 1, 9, 7, 0}));
  CHECK_FALSE(parse({2, 7, 1, 9, 5, 0}));
  CHECK_FALSE(parse({2, 5, 1, 9, 5, 0}));
  CHECK_FALSE(parse({1, 5, 9, 9}));
  CHECK_FALSE(parse({3, 5, 0}));
}

/// Reads a frame as a connection does, and what could be read must be written and read again.
void read_frame(ByteView frame) {
  std::size_t size = 0;
  const auto header = read_request_header(frame, &is_flexible, size);
  if (!header) return;
  test::for_each_api([&]<class Request, class Response>(const std::string&) {
    if (header->api_key != Request::kType.key || !Request::kType.has(header->api_version)) return;
    auto message = read_message<Request>(frame.subspan(size), header->api_version);
    if (!message) return;
    net::Chain chain;
    write_message(chain, *message, header->api_version);
    Buffer again;
    for (net::Piece& piece : chain.take()) again.append(piece.bytes.view());
    const auto second = read_message<Request>(again.view(), header->api_version);
    REQUIRE(second);
    CHECK(*second == *message);
  });
}

TEST_CASE("damaged requests of real clients are read or refused") {
  std::vector<test::Bytes> frames;
  for (const test::Exchange& one : test::recorded_exchanges()) {
    if (one.is_request && one.bytes.size() < 2000) frames.push_back(one.bytes);
  }
  for (std::uint64_t seed = 1; seed <= 20000; ++seed) {
    CAPTURE(seed);
    test::Random random(seed);
    test::Bytes frame = frames[random.below(frames.size())];
    for (std::size_t left = 1 + random.below(4); left > 0 && !frame.empty(); --left)
      test::mutate(random, frame);
    // In memory of exactly this size, so that a sanitizer sees a byte too far.
    const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[frame.size()]);
    std::copy(frame.begin(), frame.end(), exact.get());
    read_frame({exact.get(), frame.size()});
  }
}

TEST_CASE("HTTP requests: whole, in pieces, damaged, too large") {
  const std::string whole =
      "POST /topics/a%20b/records?key=x+y&offset=-5&offset=end HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
      "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n "
      "world\r\n0\r\n\r\nGET / HTTP/1.0\r\n\r\n";
  for (std::size_t piece : {std::size_t{1}, std::size_t{7}, whole.size()}) {
    http::Parser parser(16384, 1000);
    std::vector<http::Request> requests;
    std::string waiting;
    for (std::size_t at = 0; at < whole.size(); at += piece) {
      waiting += whole.substr(at, piece);
      for (bool more = true; more && !waiting.empty();) {
        std::size_t used = 0;
        const auto state = parser.feed(as_bytes(waiting), used);
        waiting.erase(0, used);
        more = state == http::Parser::State::done;
        if (more) requests.push_back(parser.take());
      }
    }
    REQUIRE(requests.size() == 2);
    CHECK(requests[0].path == "/topics/a b/records");
    CHECK(requests[0].parameter("key") == "x y");
    CHECK(requests[0].parameter("offset") == "end");
    CHECK(requests[0].header("content-type") == "application/json");
    CHECK(requests[0].body == "hello world");
    CHECK(requests[0].keep_alive);
    CHECK(requests[1].is_1_0);
    CHECK_FALSE(requests[1].keep_alive);
  }
  // Found by fuzzing: the parser is not asked about a part of the last chunk that is too short for one.
  const std::string empty = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  http::Parser bytewise(1000, 1000);
  std::string rest;
  for (std::size_t at = 0; at < empty.size(); ++at) {
    rest += empty[at];
    std::size_t used = 0;
    const auto state = bytewise.feed(as_bytes(rest), used);
    rest.erase(0, used);
    CHECK((state == http::Parser::State::done) == (at + 1 == empty.size()));
  }
  CHECK(bytewise.take().body.empty());
  const auto judge = [](const std::string& text) {
    http::Parser parser(1000, 1000);
    std::size_t used = 0;
    return parser.feed(as_bytes(text), used);
  };
  CHECK(judge("nonsense\r\n\r\n") == http::Parser::State::bad);
  CHECK(judge("GET / HTTP/1.1\r\nX: " + std::string(2000, 'x')) == http::Parser::State::head_too_large);
  CHECK(judge("POST / HTTP/1.1\r\nContent-Length: 2000\r\n\r\n") == http::Parser::State::body_too_large);
  CHECK(judge("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n") !=
        http::Parser::State::done);
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    CAPTURE(seed);
    test::Random random(seed);
    test::Bytes bytes(whole.begin(), whole.end());
    for (std::size_t left = 1 + random.below(4); left > 0 && !bytes.empty(); --left)
      test::mutate(random, bytes);
    http::Parser parser(1000, 1000);
    std::size_t used = 0;
    if (parser.feed(bytes, used) == http::Parser::State::done) parser.take();
  }
}

}  // namespace
}  // namespace tk::kafka
