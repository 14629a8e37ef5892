// The commands there are. Only the chosen one's options are ever built.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command_spec.h"

namespace tk::cli {

struct CommandRow {
  /// One word, or two: "topics create".
  std::string_view name;
  /// The heading under which `tk --help` lists it.
  std::string_view group;
  /// One line.
  std::string_view purpose;
  void (*bind)(CommandSpec&);
};

/// In the order of the help.
std::span<const CommandRow> command_rows();
/// Null if there is none of this name.
const CommandRow* find_command(std::string_view name);
/// True if `word` begins two-word commands.
bool is_command_prefix(std::string_view word);
/// What may follow `prefix`, or the first words if it is empty.
std::vector<std::string> command_words(std::string_view prefix);

// Binders: the options of each command.
void bind_topics_create(CommandSpec& spec);
void bind_topics_list(CommandSpec& spec);
void bind_topics_describe(CommandSpec& spec);
void bind_topics_alter(CommandSpec& spec);
void bind_topics_delete(CommandSpec& spec);
void bind_produce(CommandSpec& spec);
void bind_consume(CommandSpec& spec);
void bind_dump_log(CommandSpec& spec);
void bind_verify(CommandSpec& spec);
void bind_recover(CommandSpec& spec);
void bind_rebalance(CommandSpec& spec);
void bind_commit(CommandSpec& spec);
void bind_groups_list(CommandSpec& spec);
void bind_groups_describe(CommandSpec& spec);
void bind_groups_events(CommandSpec& spec);
void bind_groups_export(CommandSpec& spec);
void bind_groups_delete(CommandSpec& spec);
void bind_groups_delete_offsets(CommandSpec& spec);
void bind_groups_reset_offsets(CommandSpec& spec);
void bind_txn_begin(CommandSpec& spec);
void bind_txn_commit(CommandSpec& spec);
void bind_txn_abort(CommandSpec& spec);
void bind_txn_list(CommandSpec& spec);
void bind_txn_describe(CommandSpec& spec);
void bind_txn_expire(CommandSpec& spec);
void bind_producers_list(CommandSpec& spec);
void bind_producers_delete(CommandSpec& spec);
void bind_retain(CommandSpec& spec);
void bind_compact(CommandSpec& spec);
void bind_delete_records(CommandSpec& spec);
void bind_get_offsets(CommandSpec& spec);
void bind_serve(CommandSpec& spec);
void bind_cluster_init(CommandSpec& spec);
void bind_cluster_status(CommandSpec& spec);
void bind_cluster_stop(CommandSpec& spec);
void bind_cluster_start(CommandSpec& spec);
void bind_cluster_events(CommandSpec& spec);
void bind_replicate_sim(CommandSpec& spec);
void bind_failover(CommandSpec& spec);
void bind_completion(CommandSpec& spec);
void bind_help(CommandSpec& spec);

}  // namespace tk::cli
