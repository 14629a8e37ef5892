// group-<key>.json. A file is read or refused by an Error of its kinds; what was read breaks no invariant of
// groups, and is written to a text that reads the same.
#include "core/base/error.h"
#include "core/group/group_file.h"
#include "core/group/invariants.h"
#include "tests/fuzz/fuzz.h"

namespace tk::fuzz {
namespace {

void check_file(std::string_view text) {
  GroupState group;
  try {
    group = parse_group_file(text, "group-g.json");
  } catch (const Error& error) {
    require(error.code() == ErrorCode::corrupt_state || error.code() == ErrorCode::unsupported_version,
            "a file is refused as damaged or too new");
    return;
  }
  require(!broken_invariant(group), "what was read is a group that can be");
  const std::string printed = format_group_file(group);
  const GroupState again = parse_group_file(printed, "group-g.json");
  require(again == group, "a group is the same after printing it");
  require(format_group_file(again) == printed, "and so is its text");
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tk::fuzz::check_file({reinterpret_cast<const char*>(data), size});
  return 0;
}
