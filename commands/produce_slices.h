// The input of `tk produce` in a cluster: slices that end where the input pauses, so that the cluster's lock
// is held for each, and not while nothing comes.
#pragma once

#include <functional>
#include <string>

#include "core/log/append_pipeline.h"

namespace tk {

class InputSlices final : public RecordSource {
 public:
  explicit InputSlices(RecordSource& source) : source_(source) {}

  /// Waits till the next slice has something; false at the end of the input, or when `interrupted` says so.
  bool wait(const std::function<bool()>& interrupted);

  /// Says `end` at the end of the slice.
  Got take(InputChunk& chunk, std::int64_t wait_ms, std::string& name, bool& restart) override;
  void parse(const InputChunk& chunk, ParsedChunk& out) const override { source_.parse(chunk, out); }

 private:
  RecordSource& source_;
  // The first chunk of the slice, taken before the slice began.
  InputChunk first_;
  std::string first_name_;
  bool first_restart_ = false;
  bool has_first_ = false;
  bool slice_over_ = true;
  bool input_over_ = false;
  std::size_t taken_ = 0;
};

}  // namespace tk
