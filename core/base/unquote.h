// The fast part of reading a JSON string that is full of escaped quotes.
#pragma once

namespace tk {

struct Unquoted {
  const char* from;
  char* to;
};

/// Copies what is inside a JSON string from `from` on to `to`, without the backslash of each `\"`, and stops
/// before what it does not know: the quote that ends the string, another escape, or fewer than 16 bytes
/// before `end`. Says how far it came; that may be no step at all (always so on a processor without SSSE3).
/// `to` needs room for end - from bytes and 16 more.
Unquoted copy_unquoted(const char* from, const char* end, char* to);

namespace unquote_kernel {
/// Needs SSSE3 and POPCNT; x86-64 only.
Unquoted ssse3(const char* from, const char* end, char* to);
}  // namespace unquote_kernel

}  // namespace tk
