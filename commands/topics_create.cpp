// tk topics create
#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/open_store.h"
#include "commands/topics_options.h"

namespace tk {

int run_topics_create(const TopicsCreateOptions& options, Context& context) {
  const NewTopic wanted{options.name, options.partitions, options.format, config_map(options.configs),
                        options.replicas};
  check_new_topic(wanted);  // what is refused leaves no trace, not even a directory
  Store store = open_store_for_writing(context);
  try {
    const TopicInfo& topic = store.create_topic(wanted);
    context.diagnostics.note(fmt::format("created topic {} with {} partition{}, format {}", topic.name,
                                         topic.partitions.size(), topic.partitions.size() == 1 ? "" : "s",
                                         topic_format_name(topic.format)));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::topic_already_exists || !options.if_not_exists) throw;
    context.diagnostics.note(error.message());
  }
  return 0;
}

}  // namespace tk
