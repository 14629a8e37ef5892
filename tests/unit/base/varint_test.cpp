#include <doctest/doctest.h>

#include <array>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/varint.h"

using namespace tk;

namespace {

std::vector<std::uint8_t> from_hex(const std::string& hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// What Kafka's own encoder and decoder did with each value and each sequence of bytes.
std::vector<nlohmann::json> vectors(const std::string& op, const std::string& type) {
  std::ifstream file(TK_FIXTURES "/vectors/varints.ndjson");
  std::vector<nlohmann::json> found;
  for (std::string line; std::getline(file, line);) {
    auto row = nlohmann::json::parse(line);
    if (row["op"] == op && row["type"] == type) found.push_back(std::move(row));
  }
  return found;
}

template <class T, class Put>
void check_encoding(const std::string& type, Put put, std::size_t (*size)(T)) {
  const auto rows = vectors("encode", type);
  REQUIRE(rows.size() > 10);
  for (const auto& row : rows) {
    CAPTURE(row.dump());
    const auto value = row["value"].get<T>();
    const auto expected = from_hex(row["hex"]);
    std::array<std::uint8_t, kMaxVarlongBytes> out{};
    const auto written = static_cast<std::size_t>(put(out.data(), value) - out.data());
    CHECK(std::vector<std::uint8_t>(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(written)) ==
          expected);
    CHECK(size(value) == expected.size());
  }
}

template <class T, class Get>
void check_decoding(const std::string& type, Get get) {
  const auto rows = vectors("decode", type);
  REQUIRE(rows.size() > 10);
  for (const auto& row : rows) {
    CAPTURE(row.dump());
    const auto bytes = from_hex(row["hex"]);
    T value{};
    const std::uint8_t* const behind = get(bytes.data(), bytes.data() + bytes.size(), value);
    if (row["value"].is_null()) {
      CHECK(behind == nullptr);
      continue;
    }
    REQUIRE(behind != nullptr);
    CHECK(value == row["value"].get<T>());
    CHECK(behind - bytes.data() == row["used"].get<std::ptrdiff_t>());
  }
}

}  // namespace

TEST_SUITE("base.varint") {
  TEST_CASE("encoding is Kafka's") {
    check_encoding<std::int32_t>("varint", put_varint, [](std::int32_t n) { return varint_size(n); });
    check_encoding<std::int64_t>("varlong", put_varlong, [](std::int64_t n) { return varlong_size(n); });
    check_encoding<std::uint32_t>("uvarint", put_uvarint, [](std::uint32_t n) { return uvarint_size(n); });
  }

  TEST_CASE("decoding is Kafka's, overlong and broken forms included") {
    check_decoding<std::int32_t>("varint", get_varint);
    check_decoding<std::int64_t>("varlong", get_varlong);
    check_decoding<std::uint32_t>("uvarint", get_uvarint);
  }

  TEST_CASE("the table of kafka-on-disk.md §0.2") {
    const std::vector<std::pair<std::int32_t, std::string>> table = {
        {0, "00"},
        {-1, "01"},
        {1, "02"},
        {-64, "7f"},
        {63, "7e"},
        {64, "8001"},
        {8191, "fe7f"},
        {-8192, "ff7f"},
        {std::numeric_limits<std::int32_t>::max(), "feffffff0f"},
        {std::numeric_limits<std::int32_t>::min(), "ffffffff0f"}};
    for (const auto& [value, hex] : table) {
      const auto expected = from_hex(hex);
      std::array<std::uint8_t, kMaxVarintBytes> out{};
      std::uint8_t* const end = put_varint(out.data(), value);
      CHECK(std::vector<std::uint8_t>(out.data(), end) == expected);
      std::int32_t back = 1234567;
      CHECK(get_varint(expected.data(), expected.data() + expected.size(), back) ==
            expected.data() + expected.size());
      CHECK(back == value);
    }
  }

  TEST_CASE("every cut of a number is refused without reading on") {
    std::array<std::uint8_t, kMaxVarlongBytes> bytes{};
    put_varlong(bytes.data(), std::numeric_limits<std::int64_t>::min());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::vector<std::uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      std::int64_t value = 0;
      CHECK(get_varlong(cut.data(), cut.data() + cut.size(), value) == nullptr);
    }
  }
}
