// The text files of a log directory's partitions: offset checkpoints, leader epochs, partition.metadata. A
// text gives a fault or values, and what is printed of the values reads the same.
#include "core/format/checkpoint_file.h"

#include "core/log/segment_names.h"
#include "tests/fuzz/fuzz.h"

namespace tk::fuzz {
namespace {

void check_offsets(std::string_view text) {
  const OffsetCheckpoint read = parse_offset_checkpoint(text);
  if (read.fault) {
    require(read.entries.empty(), "no entries beside a fault");
    return;
  }
  for (const OffsetCheckpointEntry& entry : read.entries) {
    require(entry.offset >= Offset(0) && entry.partition.value() >= 0, "numbers are not negative");
  }
  const OffsetCheckpoint again = parse_offset_checkpoint(format_offset_checkpoint(read.entries));
  require(!again.fault && again.entries == read.entries, "offsets read the same after printing them");
}

void check_epochs(std::string_view text) {
  const LeaderEpochCheckpoint read = parse_leader_epoch_checkpoint(text);
  if (read.fault) {
    require(read.entries.empty(), "no epochs beside a fault");
    return;
  }
  const LeaderEpochCheckpoint again =
      parse_leader_epoch_checkpoint(format_leader_epoch_checkpoint(read.entries));
  require(!again.fault && again.entries == read.entries, "epochs read the same after printing them");

  const LeaderEpochs history(read.entries);
  for (std::size_t i = 1; i < history.entries().size(); ++i) {
    const LeaderEpochEntry &before = history.entries()[i - 1], &entry = history.entries()[i];
    require(before.epoch < entry.epoch && before.start < entry.start, "a history rises");
    const LeaderEpochs::End end = history.end_offset_for(before.epoch, Offset(INT64_MAX));
    require(end.epoch == before.epoch && end.offset == entry.start, "an epoch ends where the next begins");
  }
  require(LeaderEpochs(history.entries()) == history, "a history is its own history");
  if (history.empty()) return;
  LeaderEpochs cut = history;
  const Offset middle = history.entries()[history.entries().size() / 2].start;
  cut.truncate_from_end(middle);
  require(cut.empty() || cut.entries().back().start < middle, "what begins behind the end is dropped");
  cut = history;
  cut.truncate_from_start(middle);
  require(!cut.empty() && cut.entries().front().start >= middle, "a history begins at the log start");
}

void check_metadata(std::string_view text) {
  const PartitionMetadata read = parse_partition_metadata(text);
  if (read.fault) return;
  require(!read.topic_id.is_zero(), "an id of zeros is none");
  const PartitionMetadata again = parse_partition_metadata(format_partition_metadata(read.topic_id));
  require(!again.fault && again.topic_id == read.topic_id, "the id reads the same after printing it");
}

void check_name(std::string_view text) {
  const auto name = parse_segment_file_name(text);
  if (!name || text.size() < 20) return;
  require(text.ends_with(name->suffix), "a file name's suffix is its end");
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk::fuzz;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_offsets(text);
  check_epochs(text);
  check_metadata(text);
  check_name(text);
  return 0;
}
