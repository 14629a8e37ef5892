// A line on the terminal that says how far a long work is (cli.md §1): only where stderr is one, after a
// second, at most ten times a second, and gone when the work is done.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "commands/context.h"

namespace tk {

/// What is counted, and how many of them make one in the line.
struct ProgressUnit {
  std::string_view name;
  double size;
};
inline constexpr ProgressUnit kProgressMiB{"MiB", 1048576.0};

/// True if stdout is a file: what prints much shows its progress only then. On a terminal the output says it,
/// and what reads a pipe may have the terminal to itself.
bool output_is_file();

class Progress {
 public:
  /// `verb`: what is done to them, for example "verified". `wanted`: false for none at all.
  Progress(const Context& context, std::string verb, ProgressUnit unit = kProgressMiB, bool wanted = true);
  /// Takes the line away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// True if anybody will see it: only then it is worth finding out how much there is to do.
  [[nodiscard]] bool is_wanted() const { return active_; }
  /// How many there are, about: from then on the line has a share and the time that is left.
  void expect(std::uint64_t total) { total_ = total; }

  /// Says that so many are through. Cheap to call often; for one thread at a time.
  void update(std::uint64_t done);
  /// The same, for those since the last.
  void add(std::uint64_t more) { update(done_ + more); }

 private:
  bool active_;
  std::string verb_;
  ProgressUnit unit_;
  std::int64_t started_ms_;
  std::int64_t shown_ms_;
  std::uint64_t total_ = 0;
  std::uint64_t done_ = 0;
  bool visible_ = false;
};

}  // namespace tk
