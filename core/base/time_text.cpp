#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "core/base/text.h"

namespace tk {
namespace {

constexpr std::int64_t kMsPerSecond = 1000;
constexpr std::int64_t kMsPerMinute = 60 * kMsPerSecond;
constexpr std::int64_t kMsPerHour = 60 * kMsPerMinute;
constexpr std::int64_t kMsPerDay = 24 * kMsPerHour;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Takes a text apart from the front; a mistake latches.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

  /// Exactly `count` digits, of a value in [low, high].
  std::int64_t number(std::size_t count, std::int64_t low, std::int64_t high) {
    std::int64_t value = 0;
    if (rest_.size() < count) ok_ = false;
    for (std::size_t i = 0; ok_ && i < count; ++i) {
      if (!is_digit(rest_[i])) ok_ = false;
      value = value * 10 + (rest_[i] - '0');
    }
    if (!ok_ || value < low || value > high) return ok_ = false, 0;
    rest_.remove_prefix(count);
    return value;
  }

  /// Passes any one of `chars`, if it comes next.
  bool accept(std::string_view chars) {
    if (rest_.empty() || chars.find(rest_[0]) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(std::string_view chars) { ok_ = accept(chars) && ok_; }

  /// The digits behind a decimal point in thousandths, what is finer dropped.
  std::int64_t thousandths() {
    if (rest_.empty() || !is_digit(rest_[0])) ok_ = false;
    std::int64_t value = 0;
    std::int64_t weight = 100;
    for (; !rest_.empty() && is_digit(rest_[0]); rest_.remove_prefix(1), weight /= 10) {
      value += (rest_[0] - '0') * weight;
    }
    return value;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

/// What a zone adds to UTC, in ms; nothing written, or Z, is UTC.
std::int64_t parse_zone(Fields& fields) {
  if (fields.empty() || fields.accept("Zz")) return 0;
  const bool west = fields.accept("-");
  if (!west) fields.expect("+");
  std::int64_t offset = fields.number(2, 0, 23) * kMsPerHour;
  if (fields.accept(":") || !fields.empty()) offset += fields.number(2, 0, 59) * kMsPerMinute;
  return west ? -offset : offset;
}

std::optional<std::int64_t> parse_iso8601(std::string_view text) {
  Fields fields(text);
  const std::chrono::year year(static_cast<int>(fields.number(4, 0, 9999)));
  fields.expect("-");
  const std::chrono::month month(static_cast<unsigned>(fields.number(2, 1, 12)));
  fields.expect("-");
  const std::chrono::day day(static_cast<unsigned>(fields.number(2, 1, 31)));
  const std::chrono::year_month_day date(year, month, day);
  if (!fields.ok() || !date.ok()) return std::nullopt;
  std::int64_t ms = std::chrono::sys_days(date).time_since_epoch().count() * kMsPerDay;
  if (fields.empty()) return ms;

  fields.expect("Tt ");
  ms += fields.number(2, 0, 23) * kMsPerHour;
  fields.expect(":");
  ms += fields.number(2, 0, 59) * kMsPerMinute;
  if (fields.accept(":")) {
    ms += fields.number(2, 0, 59) * kMsPerSecond;
    if (fields.accept(".,")) ms += fields.thousandths();
  }
  ms -= parse_zone(fields);
  if (!fields.ok() || !fields.empty()) return std::nullopt;
  return ms;
}

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

constexpr std::array kUnits = {Unit{"ms", 1}, Unit{"s", kMsPerSecond}, Unit{"m", kMsPerMinute},
                               Unit{"h", kMsPerHour}, Unit{"d", kMsPerDay}};

std::optional<std::int64_t> parse_time_ago(std::string_view text, std::int64_t now_ms) {
  const std::size_t digits_end = text.find_first_not_of("0123456789", 1);
  if (!text.starts_with('-') || digits_end == std::string_view::npos) return std::nullopt;
  const auto negative_count = parse_int(text.substr(0, digits_end));
  for (const Unit& unit : kUnits) {
    if (!negative_count || text.substr(digits_end) != unit.name) continue;
    std::int64_t ms = 0;
    if (__builtin_mul_overflow(*negative_count, unit.ms, &ms)) return std::nullopt;
    if (__builtin_add_overflow(now_ms, ms, &ms)) return std::nullopt;
    return ms;
  }
  return std::nullopt;
}

// "10s": digits and one unit.
std::optional<std::int64_t> parse_plain_duration(std::string_view text) {
  const std::size_t digits_end = text.find_first_not_of("0123456789");
  if (digits_end == 0 || digits_end == std::string_view::npos) return std::nullopt;
  const auto count = parse_int(text.substr(0, digits_end));
  for (const Unit& unit : kUnits) {
    if (!count || text.substr(digits_end) != unit.name) continue;
    std::int64_t ms = 0;
    if (__builtin_mul_overflow(*count, unit.ms, &ms)) return std::nullopt;
    return ms;
  }
  return std::nullopt;
}

// The part of an ISO duration that begins `text`, "2H" or "0.5S", which is removed; only units from `from` on
// may come, and `from` goes on behind the one that did.
std::optional<std::int64_t> take_duration_part(std::string_view& text, std::string_view units,
                                               std::size_t& from) {
  const std::size_t digits_end = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto whole = parse_int(text.substr(0, digits_end));
  if (digits_end == 0 || !whole) return std::nullopt;
  text.remove_prefix(digits_end);
  std::int64_t thousandths = 0;
  bool fraction = false;
  if (text.starts_with('.') || text.starts_with(',')) {
    Fields fields(text.substr(1));
    thousandths = fields.thousandths();
    if (!fields.ok()) return std::nullopt;
    fraction = true;
    text.remove_prefix(std::min(text.find_first_not_of("0123456789", 1), text.size()));
  }
  const std::size_t unit = text.empty() ? std::string_view::npos : units.find(text.front(), from);
  if (unit == std::string_view::npos) return std::nullopt;
  text.remove_prefix(1);
  from = unit + 1;
  const char name = units[unit];
  if (fraction && name != 'S') return std::nullopt;
  const std::int64_t scale = name == 'D'   ? kMsPerDay
                             : name == 'H' ? kMsPerHour
                             : name == 'M' ? kMsPerMinute
                                           : kMsPerSecond;
  std::int64_t ms = 0;
  if (__builtin_mul_overflow(*whole, scale, &ms) || __builtin_add_overflow(ms, thousandths, &ms))
    return std::nullopt;
  return ms;
}

std::optional<std::int64_t> parse_iso_duration(std::string_view text) {
  if (!text.starts_with('P')) return std::nullopt;
  text.remove_prefix(1);
  std::int64_t sum = 0;
  bool any = false;
  for (const std::string_view units : {"D", "HMS"}) {
    if (units == "HMS") {
      if (text.empty()) break;
      if (!text.starts_with('T')) return std::nullopt;
      text.remove_prefix(1);
      if (text.empty()) return std::nullopt;
    }
    std::size_t from = 0;
    while (!text.empty() && !text.starts_with('T')) {
      const auto part = take_duration_part(text, units, from);
      if (!part || __builtin_add_overflow(sum, *part, &sum)) return std::nullopt;
      any = true;
    }
  }
  if (!any || !text.empty()) return std::nullopt;
  return sum;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t now_ms) {
  if (const auto ms = parse_int(text)) return ms;
  if (const auto ms = parse_time_ago(text, now_ms)) return ms;
  return parse_iso8601(text);
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
  if (const auto ms = parse_plain_duration(text)) return ms;
  return parse_iso_duration(text);
}

std::string format_time(std::int64_t ms) {
  // The calendar repeats every 400 years; the library's own knows only 65536 of the years that 64 bits can
  // hold.
  constexpr std::int64_t days_of_cycle = 146097;
  constexpr std::chrono::sys_days cycle_start = std::chrono::year(2000) / 1 / 1;
  const std::int64_t day = floor_div(ms, kMsPerDay);
  const std::int64_t in_day = (ms % kMsPerDay + kMsPerDay) % kMsPerDay;
  const std::int64_t since_start = day - cycle_start.time_since_epoch().count();
  const std::int64_t cycle = floor_div(since_start, days_of_cycle);
  const std::chrono::year_month_day date(cycle_start +
                                         std::chrono::days(since_start - cycle * days_of_cycle));
  const std::int64_t year = static_cast<int>(date.year()) + 400 * cycle;

  const bool four_digits = year >= 0 && year <= 9999;
  return fmt::format("{}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
                     four_digits ? fmt::format("{:04}", year) : fmt::format("{:+05}", year),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     in_day / kMsPerHour, in_day / kMsPerMinute % 60, in_day / kMsPerSecond % 60,
                     in_day % kMsPerSecond);
}

}  // namespace tk
