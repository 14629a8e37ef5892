// tk rebalance (cli.md §6).
#include <memory>

#include "cli/command_table.h"
#include "cli/flags.h"
#include "commands/commands.h"
#include "commands/rebalance_options.h"

namespace tk::cli {
namespace {

void add_assignor(CommandSpec& spec, std::optional<Assignor>& assignor) {
  std::string names;
  for (const std::string& name : assignor_names()) names += (names.empty() ? "" : "|") + name;
  spec.value("--assignor", names, "who reads what (default: what the question names, else range)",
             [&assignor](const std::string& text) { assignor = parse_assignor(text); });
}

}  // namespace

void bind_rebalance(CommandSpec& spec) {
  auto options = std::make_shared<RebalanceOptions>();
  auto* to = options.get();
  spec.usage("", Completes::nothing);
  spec.flag("--preview", "answer questions from stdin, one JSON object a line; touches no file", to->preview);
  add_assignor(spec, to->assignor);
  check_no_arguments(spec);
  spec.check([to] {
    if (!to->preview) usage_error("nothing to do: give --preview");
  });
  spec.example(
      R"(echo '{"partitions":{"t":6},"members":[{"id":"A","topics":["t"]},{"id":"B","topics":["t"]}]}' | tk rebalance --preview)");
  spec.example("tk rebalance --preview --assignor sticky < questions.ndjson");
  spec.example("tk rebalance --preview < questions.ndjson | jq -c '[.algorithm, .moved]'");
  spec.run([options](Context& context) { return run_rebalance_preview(*options, context); });
}

}  // namespace tk::cli
