#include "commands/dump_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "commands/diagnostics.h"
#include "commands/dump_units.h"

namespace tk {
namespace {

/// Entries of all lists together that are held for the end; the rest is counted, so that memory does not grow
/// with a log full of gaps.
constexpr std::size_t kMostHeld = 200000;

/// As the tool names files: below the current directory, otherwise as given.
std::string absolute_path(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  return failed ? path : whole.string();
}

}  // namespace

void DumpReports::add(Lists& lists, const std::string& path, Entry entry) {
  if (lists.empty() || lists.back().path != path) lists.push_back({path, {}, 0});
  if (held_ >= kMostHeld) {
    ++lists.back().left_out;
    return;
  }
  ++held_;
  lists.back().entries.push_back(entry);
}

void DumpReports::index_mismatch(const std::string& path, Offset indexed, Offset found) {
  add(index_mismatches_, path, {indexed.value(), found.value()});
}

void DumpReports::timestamp_mismatch(const std::string& path, std::int64_t indexed, std::int64_t found) {
  add(timestamp_mismatches_, path, {indexed, found});
}

void DumpReports::timestamp_out_of_order(const std::string& path, std::int64_t indexed,
                                         std::int64_t previous) {
  add(out_of_order_, path, {indexed, previous});
}

void DumpReports::offset_not_found(const std::string& path, Offset indexed, Offset found) {
  add(not_found_, path, {indexed.value(), found.value()});
}

void DumpReports::gaps(const std::string& path, const OffsetTrail& trail) {
  if (!trail.first) return;
  if (*trail.first != Offset(0)) add(gaps_, path, {-1, trail.first->value()});
  for (const auto& [before, behind] : trail.gaps) add(gaps_, path, {before.value(), behind.value()});
  if (trail.gaps_left_out > 0) gaps_.back().left_out += trail.gaps_left_out;
}

void DumpReports::print(Diagnostics& diagnostics) const {
  const auto print_lists = [&](const Lists& lists, std::string_view heading, auto&& line, auto&& order) {
    for (const List& list : lists) {
      diagnostics.note(fmt::format("{}{}", heading, absolute_path(list.path)));
      std::vector<Entry> entries = list.entries;
      order(entries);
      for (const Entry& entry : entries) diagnostics.note(line(entry));
      if (list.left_out > 0) diagnostics.note(fmt::format("  and {} more", list.left_out));
    }
  };
  const auto as_found = [](std::vector<Entry>&) {};
  print_lists(
      index_mismatches_, "Mismatches in :",
      [](const Entry& entry) {
        return fmt::format("  Index offset: {}, log offset: {}", entry.first, entry.second);
      },
      [](std::vector<Entry>& entries) {
        std::stable_sort(entries.begin(), entries.end(),
                         [](const Entry& a, const Entry& b) { return a.first > b.first; });
      });
  print_lists(
      timestamp_mismatches_, "Found timestamp mismatch in :",
      [](const Entry& entry) {
        return fmt::format("  Index timestamp: {}, log timestamp: {}", entry.first, entry.second);
      },
      as_found);
  print_lists(
      out_of_order_, "Found out of order timestamp in :",
      [](const Entry& entry) {
        return fmt::format("  Index timestamp: {}, Previously indexed timestamp: {}", entry.first,
                           entry.second);
      },
      as_found);
  print_lists(
      not_found_, "The following indexed offsets are not found in :",
      [](const Entry& entry) {
        return fmt::format("Indexed offset: {}, found log offset: {}", entry.first, entry.second);
      },
      as_found);
  print_lists(
      gaps_, "Non-consecutive offsets in ",
      [](const Entry& entry) { return fmt::format("  {} is followed by {}", entry.first, entry.second); },
      [](std::vector<Entry>& entries) {
        std::stable_sort(entries.begin(), entries.end(),
                         [](const Entry& a, const Entry& b) { return a.first < b.first; });
      });
}

}  // namespace tk
