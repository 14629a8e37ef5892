// tk topics delete
#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/topics_options.h"
#include "core/base/json_writer.h"
#include "core/base/text.h"
#include "core/io/output.h"

namespace tk {
namespace {

void print(const TopicsDeleteOptions& options, const std::vector<std::string>& directories,
           Context& context) {
  TextBuffer text;
  for (const std::string& directory : directories) {
    if (context.json) {
      JsonLine(text)
          .text("topic", options.name)
          .text("path", directory)
          .text("action", options.dry_run ? "would_delete" : "deleted")
          .end();
    } else if (options.dry_run) {
      append(text, "would delete " + printable(directory, std::string::npos) + "\n");
    }
  }
  context.out.write({text.data(), text.size()});
}

}  // namespace

int run_topics_delete(const TopicsDeleteOptions& options, Context& context) {
  if (options.dry_run) {
    print(options, open_store(context).would_delete(options.name), context);
    return 0;
  }
  // A directory that is not there has no topic to delete, and is not made for this.
  static_cast<void>(Store::open(context.fs, context.directory, {}));
  Store store = open_store_for_writing(context);
  const std::vector<std::string> directories = store.delete_topic(options.name);
  print(options, directories, context);
  context.diagnostics.note(fmt::format("deleted topic {}: {} director{} removed", options.name,
                                       directories.size(), directories.size() == 1 ? "y" : "ies"));
  return 0;
}

}  // namespace tk
