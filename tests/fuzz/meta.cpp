// meta.properties. Comments, other keys and the way lines end change nothing, and what was read is read again
// when written in the plainest form.
#include "core/format/meta_properties.h"

#include <algorithm>

#include "tests/fuzz/fuzz.h"

namespace tk::fuzz {
namespace {

bool same(const MetaProperties& a, const MetaProperties& b) {
  return a.fault.has_value() == b.fault.has_value() && a.version == b.version &&
         a.cluster_id == b.cluster_id && a.node_id == b.node_id && a.directory_id == b.directory_id;
}

bool is_plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f && c != '\\'; }) &&
         !text.starts_with('=') && !text.starts_with(':');
}

std::string with_carriage_returns(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return out;
}

void check(std::string_view text) {
  const MetaProperties read = parse_meta_properties(text);
  if (text.find('\r') == std::string_view::npos) {
    require(same(parse_meta_properties(with_carriage_returns(text)), read), "line ends do not matter");
  }
  require(same(parse_meta_properties("# a comment\n! another\nsome.key = 1\n" + std::string(text)), read),
          "comments and unknown keys do not matter");
  if (read.fault) {
    require(!read.cluster_id && !read.node_id && !read.directory_id, "no values beside a fault");
    return;
  }
  require(read.version == 0 || (read.node_id && read.cluster_id), "version 1 has its ids");
  if (read.cluster_id && !is_plain(*read.cluster_id)) return;
  std::string plain = "version=" + std::to_string(read.version) + "\n";
  if (read.cluster_id) plain += "cluster.id=" + *read.cluster_id + "\n";
  if (read.node_id) {
    plain += (read.version == 0 ? "broker.id=" : "node.id=") + std::to_string(*read.node_id) + "\n";
  }
  if (read.directory_id) plain += "directory.id=" + read.directory_id->text() + "\n";
  require(same(parse_meta_properties(plain), read), "values read the same after printing them");
}

}  // namespace
}  // namespace tk::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tk::fuzz::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
