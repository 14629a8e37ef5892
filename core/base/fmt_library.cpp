// The compiled part of fmt, made here from its own headers: the distribution has it as a shared library only,
// which a static executable cannot use, and in header-only form it costs every source file five seconds to
// compile.
#include <fmt/format-inl.h>

namespace fmt {
inline namespace v9 {
namespace detail {
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
}  // namespace detail
}  // namespace v9
}  // namespace fmt
