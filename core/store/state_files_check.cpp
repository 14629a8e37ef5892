#include "core/store/state_files_check.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/catalog/topics_file.h"
#include "core/group/group_store.h"
#include "core/producer/producers_file.h"

namespace tk {
namespace {

template <class Read>
void look_at(const std::string& path, ProblemCounter& report, Read&& read) {
  try {
    read();
  } catch (const Error& error) {
    const bool later = error.code() == ErrorCode::unsupported_version;
    Problem problem{.severity = later ? Severity::note : Severity::damage,
                    .kind = "state_file",
                    .file = error.path().empty() ? path : error.path(),
                    .message = error.message()};
    if (error.position()) problem.position = *error.position();
    report(problem);
  }
}

}  // namespace

void check_state_files(FileSystem& fs, const std::string& directory, ProblemCounter& report) {
  look_at(directory, report, [&] { static_cast<void>(read_topics_file(fs, directory)); });
  look_at(directory, report, [&] { static_cast<void>(read_producers_file(fs, directory)); });
  const SystemClock clock;
  const GroupStore groups(fs, directory, clock, {});
  for (const std::string& key : groups.keys())
    look_at(directory, report, [&] { static_cast<void>(groups.read_key(key)); });
}

}  // namespace tk
