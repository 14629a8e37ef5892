// A look ahead at the input of a named producer: nothing is appended anywhere before the input has shown that
// it is the one that the log holds the beginning of.
//
// The log of each partition may hold another number of records. The input is read and counted until it has
// brought the last held record of every partition, each of which must equal the stored one; what of it is new
// in some partition meanwhile is kept in memory and handed out again afterwards. After a crash the partitions
// are close together, so that is little; beyond a limit the look ends, and the rest is checked as it comes.
#pragma once

#include <deque>
#include <memory>

#include "core/log/append_pipeline.h"
#include "core/log/input_count.h"

namespace tk {

class HeldBackInput final : public RecordSource {
 public:
  /// All must outlive it. Records that the log holds are counted in `count` and dropped.
  HeldBackInput(RecordSource& source, const EncodeOptions& options, InputCount& count, SkippedRecord check)
      : source_(source), options_(options), count_(count), check_(std::move(check)) {}

  /// Reads ahead. Throws what `check` throws. If the input ends before the log's records do, the last records
  /// that it has are checked.
  void look(const std::function<bool()>& interrupted);
  /// Records of the file at hand that were dropped before what take() hands out first.
  [[nodiscard]] std::uint64_t dropped_of_file() const { return dropped_of_file_; }

  Got take(InputChunk& chunk, std::int64_t wait_ms, std::string& name, bool& restart) override;
  void parse(const InputChunk& chunk, ParsedChunk& out) const override { source_.parse(chunk, out); }

 private:
  static constexpr std::size_t kMostKept = 64U << 20;

  struct Piece {
    InputChunk chunk;
    std::string name;
    bool restart = false;
  };
  /// A record of the input that outlives its chunk.
  struct Last {
    std::int64_t number = -1;
    std::optional<std::string> key, value;
    bool value_is_json = false;
    std::vector<std::pair<std::string, std::optional<std::string>>> headers;
  };

  bool take_piece(Piece& piece, const std::function<bool()>& interrupted);
  void remember(std::int32_t partition, std::int64_t number, const RecordFields& fields);
  void check_short_ones(const InputCount& ahead) const;

  RecordSource& source_;
  const EncodeOptions& options_;
  InputCount& count_;
  SkippedRecord check_;
  std::deque<Piece> kept_;
  std::vector<Last> last_;  // by partition
  bool ended_ = false;
  std::uint64_t dropped_of_file_ = 0;
};

}  // namespace tk
