// A line on the terminal that says how far a long work is (cli.md §1): only where stderr is one, after a
// second, at most ten times a second, and gone when the work is done.
#pragma once

#include <cstdint>
#include <string>

#include "commands/context.h"

namespace tk {

class Progress {
 public:
  /// `verb`: what is done to the bytes, for example "verified".
  Progress(const Context& context, std::string verb);
  /// Takes the line away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// True if anybody will see it: only then it is worth finding out how much there is to do.
  [[nodiscard]] bool is_wanted() const { return active_; }
  /// How many bytes there are, about: from then on the line has a share and the time that is left.
  void expect(std::uint64_t total) { total_ = total; }

  /// Says that so many bytes are through. Cheap to call often; for one thread at a time.
  void update(std::uint64_t bytes);

 private:
  bool active_;
  std::string verb_;
  std::int64_t started_ms_;
  std::int64_t shown_ms_;
  std::uint64_t total_ = 0;
  bool visible_ = false;
};

}  // namespace tk
