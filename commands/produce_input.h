// The input of `produce`, split into records: lines, NDJSON, or whole files (cli.md §3).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/produce_options.h"
#include "core/log/append_pipeline.h"

namespace tk {

/// Reads the files of the options in order; several threads may parse chunks at the same time.
class ProduceInput final : public RecordSource {
 public:
  struct Limits {
    TopicFormat format = TopicFormat::json;
    std::int32_t partitions = 1;
    /// A longer line ends the input before it is in memory.
    std::size_t max_record = 0;
    std::size_t chunk_size = 1U << 20;
    /// Largest partition number + 1 that a record may ask for.
    std::int32_t partition_limit = 1;
  };
  ProduceInput(const ProduceOptions& options, const Limits& limits);
  ~ProduceInput() override;

  /// The bytes of all files together; nothing if one is no regular file, or cannot be looked at.
  [[nodiscard]] std::optional<std::uint64_t> size() const;
  /// Told of the bytes of each chunk.
  void on_taken(std::function<void(std::uint64_t bytes)> taken) { on_taken_ = std::move(taken); }

  Got take(InputChunk& chunk, std::int64_t wait_ms, std::string& name, bool& restart) override;
  void parse(const InputChunk& chunk, ParsedChunk& out) const override;

 private:
  bool open_next();
  void parse_lines(std::string_view text, ParsedChunk& out) const;
  void parse_plain_lines(std::string_view text, char delimiter, ParsedChunk& out) const;
  bool parse_line(std::string_view line, InputRecord& record, ParsedChunk& out) const;
  bool parse_json(std::string_view line, InputRecord& record, ParsedChunk& out) const;
  void set_key(InputRecord& record, std::string_view key) const;
  void set_value(InputRecord& record, std::string_view value) const;

  const ProduceOptions& options_;
  Limits limits_;
  std::vector<std::string> files_;
  std::size_t next_file_ = 0;
  Descriptor file_;
  std::string name_;
  std::unique_ptr<ChunkReader> reader_;
  std::function<void(std::uint64_t bytes)> on_taken_;
  bool at_start_ = true;     // of the present file
  bool handed_out_ = false;  // something of the present file
};

}  // namespace tk
