#include "commands/replicate_seeds.h"

#include <fmt/format.h>

#include "commands/cluster_options.h"
#include "commands/context.h"
#include "core/base/error.h"
#include "core/cluster/rules.h"
#include "core/io/output.h"

namespace tk {

int run_seeds(const ReplicateSimOptions& options, Context& context) {
  if (options.without.size() == 1 && options.without.front() == "help") {
    for (const RuleName& rule : rule_names())
      context.out.write(fmt::format("{:<26} {}\n", rule.name, rule.protects));
    return 0;
  }
  throw Error(ErrorCode::invalid_request, "seeds are not there yet");
}

}  // namespace tk
