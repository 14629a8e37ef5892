// tk topics alter
#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/topics_options.h"

namespace tk {

int run_topics_alter(const TopicsAlterOptions& options, Context& context) {
  const ConfigMap set = check_configs(config_map(options.configs));
  for (const std::string& key : options.unset) check_config_key(key);
  // A directory that is not there has no topic to alter, and is not made for this.
  static_cast<void>(Store::open(context.fs, context.directory, {}));
  Store store = open_store_for_writing(context);
  const TopicInfo& topic = store.alter_topic(options.name, options.partitions, set, options.unset);
  context.diagnostics.note(fmt::format("topic {} has {} partition{} and {} config{} set", topic.name,
                                       topic.partitions.size(), topic.partitions.size() == 1 ? "" : "s",
                                       topic.configs.size(), topic.configs.size() == 1 ? "" : "s"));
  return 0;
}

}  // namespace tk
