// A producer snapshot: as it is, and with its checksum put right. What can be read is written again to a file
// that reads the same.
#include "core/log/producer_state.h"

#include "core/base/crc.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/bytes.h"

namespace tk::fuzz {
namespace {

bool same(const ProducerEntry& a, const ProducerEntry& b) {
  return a.epoch == b.epoch && a.coordinator_epoch == b.coordinator_epoch &&
         a.last_timestamp == b.last_timestamp && a.transaction_first == b.transaction_first &&
         std::equal(a.batches().begin(), a.batches().end(), b.batches().begin(), b.batches().end());
}

void check(ByteView file) {
  ProducerState state;
  const Fault fault = state.decode_snapshot(file);
  if (fault) {
    require(state.empty(), "nothing is taken of a damaged snapshot");
    return;
  }
  require(state.producers().size() <= file.size() / 46, "no more producers than the file can hold");
  for (const auto& [id, entry] : state.producers()) {
    for (const ProducedBatch& batch : entry.batches()) {
      (void)batch.first_sequence();
      (void)batch.first_offset();
    }
  }
  Buffer made;
  state.encode_snapshot(made);
  require(made.size() <= file.size(), "no producer is made up");
  ProducerState again;
  require(!again.decode_snapshot(made.view()), "what was written can be read");
  require(again.producers().size() == state.producers().size(), "no producer is lost");
  for (const auto& [id, entry] : state.producers()) {
    const ProducerEntry* const other = again.find(id);
    require(other != nullptr && same(*other, entry), "every producer is the same");
  }
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tk;
  fuzz::check({data, size});
  // version i16, crc u32 over what follows it, count i32, entries of 46 bytes
  if (size < 10) return 0;
  std::vector<std::uint8_t> file(data, data + size);
  store_be<std::int16_t>(file.data(), 1);
  file.resize(10 + (size - 10) / 46 * 46);
  store_be<std::int32_t>(file.data() + 6, static_cast<std::int32_t>((file.size() - 10) / 46));
  store_be<std::uint32_t>(file.data() + 2, crc32c(ByteView(file).subspan(6)));
  fuzz::check(file);
  return 0;
}
