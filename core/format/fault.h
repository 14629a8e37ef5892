// Damage as a value: what a unit of the log is found to suffer from. Finding damage is an expected outcome
// here, so it never throws and never allocates; text is made at the edge.
#pragma once

#include <cstdint>
#include <string_view>

namespace tk {

/// Kinds of damage; the names are those of `tk recover` and `tk verify` (cli.md §5).
enum class FaultKind : std::uint8_t {
  none,
  torn_tail,          // the last unit is incomplete, as a crashed or running writer leaves it
  zero_tail,          // zeros to the end of the file: unwritten blocks
  bad_length,         // the length field cannot be right
  bad_crc,            // the checksum does not match
  bad_magic,          // neither a Kafka batch nor a json record
  offset_regression,  // the offset does not rise, or lies outside the segment
  record,             // the checksum is good but the records inside are not
};

/// "torn_tail" and so on.
constexpr std::string_view fault_name(FaultKind kind) {
  constexpr std::string_view names[] = {"none",    "torn_tail", "zero_tail",         "bad_length",
                                        "bad_crc", "bad_magic", "offset_regression", "record"};
  return names[static_cast<std::size_t>(kind)];
}

struct Fault {
  FaultKind kind = FaultKind::none;
  /// What exactly is wrong, in words; a literal.
  const char* detail = "";
  /// What was found and what should be there, where that is a number (a checksum, a length, an offset).
  std::int64_t found = 0;
  std::int64_t expected = 0;

  explicit operator bool() const { return kind != FaultKind::none; }
};

}  // namespace tk
