// Recorded exchanges of real clients with a real 4.4.0 broker, and Kafka's own definitions of the messages
// (tests/fixtures/wire), with a list of all messages that are described here.
#pragma once

#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/format/codec.h"
#include "tests/support/wire_apis.h"

namespace tk::test {

inline std::string wire_fixture(const std::string& name) {
  std::ifstream file(std::string(TK_FIXTURES) + "/wire/" + name, std::ios::binary);
  const std::string packed((std::istreambuf_iterator<char>(file)), {});
  Decompressor decompressor;
  const Decompressed plain = decompressor.decompress(Codec::zstd, as_bytes(packed));
  if (plain.error != nullptr) throw std::runtime_error(name + ": " + plain.error);
  return std::string(as_text(plain.bytes));
}

struct Exchange {
  bool is_request = false;
  std::int16_t key = 0;
  std::int16_t version = 0;
  std::vector<std::uint8_t> bytes;
};

inline std::vector<Exchange> recorded_exchanges() {
  std::vector<Exchange> all;
  std::istringstream lines(wire_fixture("exchanges.txt.zst"));
  std::string kind, hex;
  int key = 0, version = 0;
  while (lines >> kind >> key >> version >> hex) {
    Exchange& one = all.emplace_back();
    one.is_request = kind == "Q";
    one.key = static_cast<std::int16_t>(key);
    one.version = static_cast<std::int16_t>(version);
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
      one.bytes.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return all;
}

}  // namespace tk::test
