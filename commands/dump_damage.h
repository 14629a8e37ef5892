// Damage that `tk dump-log` meets: collected by the workers, reported in order with the place where good data
// go on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/context.h"
#include "core/format/fault.h"
#include "core/format/unit.h"

namespace tk {

/// A unit that verifies.
struct GoodPlace {
  std::uint64_t position = 0;
  Offset offset;
};

/// One damaged stretch.
struct Finding {
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  Fault fault;
  /// First and last offset that a damaged unit claims.
  std::optional<std::pair<Offset, Offset>> offsets;
  /// The first good unit behind it.
  std::optional<GoodPlace> next;
};

/// The offsets that a unit's header claims.
inline std::pair<Offset, Offset> offsets_of(const UnitInfo& info) {
  return {info.base_offset, info.last_offset};
}

/// What one worker found in its chunk, in order.
class FoundDamage {
 public:
  void clear();
  void add(const Finding& finding) { findings_.push_back(finding); }
  /// A good unit: what was found before it and has no such place yet, has it now.
  void good_unit(std::uint64_t position, Offset offset) {
    if (!first_good_) first_good_ = {position, offset};
    while (resolved_ < findings_.size()) findings_[resolved_++].next = {position, offset};
  }

  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
  [[nodiscard]] const std::optional<GoodPlace>& first_good() const { return first_good_; }

 private:
  std::vector<Finding> findings_;
  std::size_t resolved_ = 0;  // findings before this one have their `next`
  std::optional<GoodPlace> first_good_;
};

/// Reports the damage of one file through the context's diagnostics: the first kMostReported stretches one by
/// one, the others as a number.
class DamageReport {
 public:
  static constexpr std::uint64_t kMostReported = 50;

  DamageReport(std::string path, Context& context) : path_(std::move(path)), context_(context) {}

  /// The chunks in order.
  void take(const FoundDamage& found);
  /// After the last chunk.
  void finish();

 private:
  void report(const Finding& finding);

  std::string path_;
  Context& context_;
  std::vector<Finding> waiting_;  // nothing good has been seen behind these so far
  std::uint64_t total_ = 0;
};

}  // namespace tk
