// What the fuzz targets share. A target is one source file with `LLVMFuzzerTestOneInput`; libFuzzer drives it
// in the `fuzz` preset, and replay.cpp drives the very same function over the committed corpus in the normal
// tests.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "core/base/bytes.h"

// Declared for the compiler's sake: each target defines it once. In the replay the build gives it another
// name in each target.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tk::fuzz {

/// A property that must hold for every input does not. Nobody catches it under libFuzzer, so it is a finding
/// there as a crash would be.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, const char* property) {
  if (!holds) throw Broken(property);
}

/// Takes settings off the front of an input; what is left is the data.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  /// The next byte, 0 if there is none left.
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t byte = rest_.front();
    rest_ = rest_.subspan(1);
    return byte;
  }
  [[nodiscard]] ByteView rest() const { return rest_; }
  [[nodiscard]] std::string_view text() const { return as_text(rest_); }

 private:
  ByteView rest_;
};

}  // namespace tk::fuzz
