#include "core/log/held_back_input.h"

#include <algorithm>

namespace tk {
namespace {

constexpr std::int64_t kLookForSignalMs = 200;

}  // namespace

void HeldBackInput::look(const std::function<bool()>& interrupted) {
  InputCount ahead = count_;
  const ChunkEncoder encoder(options_);
  EncodedChunk routed;
  routed.outputs.resize(static_cast<std::size_t>(count_.partitions()));
  last_.resize(routed.outputs.size());
  std::size_t kept = 0;
  while (ahead.unchecked() > 0 && kept <= kMostKept) {
    Piece piece;
    if (!take_piece(piece, interrupted)) break;
    routed.parsed.clear();
    source_.parse(piece.chunk, routed.parsed);
    const std::size_t records = routed.parsed.records.size();
    routed.first_record = ahead.number(records);
    encoder.route(routed);
    ahead.take(routed);
    show_last_skipped(
        encoder, routed, [](std::int32_t) { return true; },
        [&](std::int32_t partition, std::int64_t number, const RecordFields& fields) {
          if (number + 1 == ahead.held(partition)) return check_(partition, number, fields);
          remember(partition, number, fields);
        });
    const bool has_new = std::ranges::any_of(routed.touched, [&](std::int32_t partition) {
      const PartitionOutput& output = routed.outputs[static_cast<std::size_t>(partition)];
      return output.offsets > output.skip;
    });
    const bool faulty = routed.parsed.fault.has_value();
    if (kept_.empty() && !has_new && !faulty) {
      dropped_of_file_ = (piece.restart ? 0 : dropped_of_file_) + records;
      count_ = ahead;
      continue;
    }
    kept += piece.chunk.bytes().size() + 1;
    kept_.push_back(std::move(piece));
    if (faulty) return;  // what comes of it is told when its turn comes
  }
  if (ended_) check_short_ones(ahead);
}

bool HeldBackInput::take_piece(Piece& piece, const std::function<bool()>& interrupted) {
  for (;;) {
    if (interrupted && interrupted()) return false;
    const Got got = source_.take(piece.chunk, kLookForSignalMs, piece.name, piece.restart);
    if (got == Got::chunk) return true;
    ended_ = got == Got::end;
    if (ended_) return false;
  }
}

void HeldBackInput::remember(std::int32_t partition, std::int64_t number, const RecordFields& fields) {
  const auto owned = [](const std::optional<std::string_view>& text) {
    return text ? std::optional<std::string>(*text) : std::nullopt;
  };
  Last& last = last_[static_cast<std::size_t>(partition)];
  last.number = number;
  last.key = owned(fields.key);
  last.value = owned(fields.value);
  last.value_is_json = fields.value_is_json;
  last.headers.clear();
  for (const HeaderView& header : fields.headers) last.headers.emplace_back(header.name, owned(header.value));
}

// The input is shorter than what the log holds of it: its last record must be the same all the same.
void HeldBackInput::check_short_ones(const InputCount& ahead) const {
  for (std::int32_t partition = 0; partition < ahead.partitions(); ++partition) {
    const Last& last = last_[static_cast<std::size_t>(partition)];
    if (ahead.counted(partition) >= ahead.held(partition) || last.number < 0) continue;
    std::vector<HeaderView> headers;
    for (const auto& [name, value] : last.headers) headers.push_back({name, value});
    RecordFields fields;
    fields.key = last.key;
    fields.value = last.value;
    fields.headers = headers;
    fields.value_is_json = last.value_is_json;
    check_(partition, last.number, fields);
  }
}

Got HeldBackInput::take(InputChunk& chunk, std::int64_t wait_ms, std::string& name, bool& restart) {
  if (kept_.empty()) return ended_ ? Got::end : source_.take(chunk, wait_ms, name, restart);
  std::swap(chunk, kept_.front().chunk);
  name = std::move(kept_.front().name);
  restart = kept_.front().restart;
  kept_.pop_front();
  return Got::chunk;
}

}  // namespace tk
