// What looks like a json record inside a unit of Kafka's: the length and the value of a message are a frame
// as json records have it, and one without a checksum proves nothing.
#include <doctest/doctest.h>

#include "core/base/crc.h"
#include "core/log/segment_scanner.h"
#include "tests/support/log_maker.h"
#include "tests/support/scan.h"

using namespace tk;
using namespace tk::test;

namespace {

const Bytes kA = from_hex(vectors::kA), kB = from_hex(vectors::kB), kC = from_hex(vectors::kC);

Bytes number(std::int64_t value, std::size_t size) {
  Bytes bytes(8);
  store_be<std::int64_t>(bytes.data(), value);
  return part(bytes, 8 - size, size);
}

/// A magic-0 message at `offset`. The eight bytes before the value's length are the key, which says `fake`.
Bytes message(std::int64_t offset, std::int64_t fake, const Bytes& value) {
  const Bytes body = from_hex("0000") + number(8, 4) + number(fake, 8) +
                     number(static_cast<std::int64_t>(value.size()), 4) + value;
  return number(offset, 8) + number(static_cast<std::int64_t>(body.size()) + 4, 4) + number(crc32(body), 4) +
         body;
}

/// The offsets of good units.
std::vector<std::int64_t> good(const Bytes& log) {
  std::vector<std::int64_t> offsets;
  for (const FoundUnit& unit : scan_bytes(log).good)
    offsets.push_back(load_be<std::int64_t>(unit.bytes.data()));
  return offsets;
}

using Offsets = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("the value of a damaged message is no record") {
  for (const char* value : {"{}", "{\"key\":\"k\",\"value\":\"v\",\"ts\":5}"}) {
    CAPTURE(value);
    // A whole message counts.
    const Bytes whole = message(1, 2, to_bytes(value));
    CHECK(good(kA + whole + kC) == Offsets{0, 1, 2});
    // Its checksum is bad: the search for good units within it must not find its value.
    CHECK(good(kA + flip(whole, 12 * 8) + kC) == Offsets{0, 2});
    CHECK(good(kA + flip(whole, 12 * 8)) == Offsets{0});
    // Its head is lost: neither must the search behind the damage.
    const Bytes headless = zero(whole, 0, 18);
    CHECK(good(kA + headless + kC) == Offsets{0, 2});
    CHECK(good(kA + headless) == Offsets{0});
    // Nothing before it tells the format.
    CHECK(good(headless + kC) == Offsets{2});
    CHECK(good(headless + at_offset(whole, 3)) == Offsets{3});
    // A wrong length leads right to it.
    Bytes astray = whole;
    store_be<std::int32_t>(astray.data() + 8, 14);
    CHECK(good(kA + astray + kC) == Offsets{0, 2});
    // A piece of another message lies behind a good unit.
    CHECK(good(kA + part(whole, 22, whole.size() - 22) + kC) == Offsets{0, 2});
  }
}

TEST_CASE("a json record without a checksum is found behind damage among its like") {
  const Bytes plain = from_hex(vectors::kJ);  // two of 14 bytes, offsets 0 and 1
  const auto record = [&](std::int64_t offset) { return at_offset(part(plain, 0, 14), offset); };
  const Bytes log = record(0) + record(1) + record(2) + record(3);
  CHECK(good(flip(log, 14 * 8 + 8 * 8 + 1)) == Offsets{0, 2, 3});  // the length of the second
  CHECK(good(flip(log, 8 * 8 + 1)) == Offsets{1, 2, 3});           // of the first
  // With a checksum it stands for itself, wherever it is.
  const Bytes own = LogMaker(5).json("value").bytes();
  CHECK(good(kA + Bytes(30, 0x55) + own) == Offsets{0, 5});
}
