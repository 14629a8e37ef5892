// The text files of a log directory, and times and sizes as options have them.
#include "core/base/text.h"
#include "core/format/checkpoint_file.h"
#include "core/format/meta_properties.h"
#include "core/log/segment_names.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const OffsetCheckpoint offsets = parse_offset_checkpoint(text);
  if (offsets.fault && !offsets.entries.empty()) __builtin_trap();
  (void)parse_leader_epoch_checkpoint(text);
  (void)parse_partition_metadata(text);
  (void)parse_meta_properties(text);
  (void)parse_time(text, 1700000000000);
  (void)parse_size(text);
  (void)parse_segment_file_name(text);
  (void)printable(text);
  (void)decode_base64(text);
  return 0;
}
