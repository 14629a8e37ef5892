// How tk ends the body of a json record; shared by its writer and its reader.
#pragma once

#include <cstddef>
#include <string_view>

namespace tk::json_layout {

inline constexpr char kCrcStart[] = ",\"crc\":\"";
inline constexpr std::size_t kCrcDigits = 8;
/// From the comma before the crc to the end: its digits, the closing quote and the brace.
inline constexpr std::size_t kCrcSuffix = sizeof kCrcStart - 1 + kCrcDigits + 2;

}  // namespace tk::json_layout
