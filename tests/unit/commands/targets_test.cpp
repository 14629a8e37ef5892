#include "commands/targets.h"

#include <doctest/doctest.h>

#include "commands/diagnostics.h"
#include "core/io/memory_file_system.h"
#include "core/io/output.h"

using namespace tk;

namespace {

class Said : public Diagnostics {
 public:
  Said() : Diagnostics(false, false) {}

 protected:
  void emit(std::string_view) override {}
};

struct Resolved {
  std::vector<std::string> paths;
  std::vector<Target::Kind> kinds;
  int exit_code = 0;
};

Resolved resolve(MemoryFileSystem& fs, const Targets& targets) {
  Said said;
  OutputStream out(1);
  const FixedClock clock(0);
  const std::atomic<int> interrupted{0};
  Context context{.directory = "/d",
                  .default_format = {},
                  .clock = clock,
                  .fs = fs,
                  .out = out,
                  .diagnostics = said,
                  .interrupted = interrupted};
  Resolved resolved;
  for (const Target& target : resolve_targets(targets, context)) {
    resolved.paths.push_back(target.path);
    resolved.kinds.push_back(target.kind);
  }
  resolved.exit_code = said.exit_code();
  return resolved;
}

using Paths = std::vector<std::string>;
using Kinds = std::vector<Target::Kind>;

}  // namespace

TEST_CASE("a name is a topic, a partition, or a path, in this order") {
  MemoryFileSystem fs;
  for (const char* directory :
       {"/d/a-0", "/d/a-1", "/d/a-10", "/d/a-2", "/d/a-1-0", "/d/gone-0.0a-delete", "/d/plain"}) {
    fs.make_directories(directory);
  }
  CHECK(resolve(fs, {{"a"}, {}}).paths == Paths{"/d/a-0", "/d/a-1", "/d/a-2", "/d/a-10"});
  CHECK(resolve(fs, {{"a-1"}, {}}).paths == Paths{"/d/a-1-0"});  // the topic of the whole name
  CHECK(resolve(fs, {{"a-2"}, {}}).paths == Paths{"/d/a-2"});
  CHECK(resolve(fs, {{}, {"a-2"}}).paths == Paths{"/d/a-2"});
  CHECK(resolve(fs, {{}, {}}).kinds == Kinds{Target::Kind::data});

  const Resolved mixed = resolve(fs, {{"no-such", "/d/a-0", "/missing"}, {"nor"}});
  CHECK(mixed.paths == Paths{"/d/a-0"});
  CHECK(mixed.kinds == Kinds{Target::Kind::partition});
  CHECK(mixed.exit_code == 1);
}

TEST_CASE("content tells a broker's directory from a partition") {
  MemoryFileSystem fs;
  fs.make_directories("/c/broker-1/t-0");
  fs.make_directories("/c/copied");
  fs.open("/c/copied/00000000000000000007.log", OpenMode::create);
  const Resolved found =
      resolve(fs, {{"/c/broker-1/", "/c/copied", "/c/copied/00000000000000000007.log"}, {}});
  CHECK(found.kinds == Kinds{Target::Kind::data, Target::Kind::partition, Target::Kind::file});
}
