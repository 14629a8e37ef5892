#include "cli/command_table.h"

#include <algorithm>
#include <array>

namespace tk::cli {
namespace {

constexpr std::array kRows = {
    CommandRow{"topics create", "Topics", "make a topic", bind_topics_create},
    CommandRow{"topics list", "Topics", "list the topics of the data directory", bind_topics_list},
    CommandRow{"topics describe", "Topics", "show partitions, offsets, sizes and configs",
               bind_topics_describe},
    CommandRow{"topics alter", "Topics", "add partitions, change configs", bind_topics_alter},
    CommandRow{"topics delete", "Topics", "delete a topic with its records", bind_topics_delete},
    CommandRow{"produce", "Records", "append records from stdin or files to a topic", bind_produce},
    CommandRow{"consume", "Records", "print the records of topics", bind_consume},
    CommandRow{"dump-log", "Files", "show what log, index and checkpoint files hold", bind_dump_log},
    CommandRow{"verify", "Files", "check everything, change nothing", bind_verify},
    CommandRow{"recover", "Files", "repair partitions as a start after a crash would", bind_recover},
    CommandRow{"rebalance", "Groups", "let members join, stay or leave; show who reads what", bind_rebalance},
    CommandRow{"commit", "Groups", "store how far a group has read", bind_commit},
    CommandRow{"groups list", "Groups", "list the consumer groups", bind_groups_list},
    CommandRow{"groups describe", "Groups", "show offsets, lag, members or state of a group",
               bind_groups_describe},
    CommandRow{"groups events", "Groups", "show what happened to a group", bind_groups_events},
    CommandRow{"groups export", "Groups", "print a group's offsets as topic,partition,offset",
               bind_groups_export},
    CommandRow{"groups delete", "Groups", "delete a group without members", bind_groups_delete},
    CommandRow{"groups delete-offsets", "Groups", "forget a group's offsets of a topic",
               bind_groups_delete_offsets},
    CommandRow{"groups reset-offsets", "Groups", "set a group's offsets: preview, or --execute",
               bind_groups_reset_offsets},
    CommandRow{"txn begin", "Producers", "begin a transaction; print its epoch", bind_txn_begin},
    CommandRow{"txn commit", "Producers", "commit a transaction, with offsets of a group", bind_txn_commit},
    CommandRow{"txn abort", "Producers", "abort a transaction", bind_txn_abort},
    CommandRow{"txn list", "Producers", "list transactions, and what is open in which partition",
               bind_txn_list},
    CommandRow{"txn describe", "Producers", "show one transaction", bind_txn_describe},
    CommandRow{"txn expire", "Producers", "abort transactions that are over their time", bind_txn_expire},
    CommandRow{"producers list", "Producers", "list the named producers", bind_producers_list},
    CommandRow{"producers delete", "Producers", "forget a named producer", bind_producers_delete},
    CommandRow{"cluster init", "Replication", "make a cluster of broker directories", bind_cluster_init},
    CommandRow{"cluster status", "Replication", "show brokers, controllers and the cluster's clock",
               bind_cluster_status},
    CommandRow{"cluster stop", "Replication", "kill brokers, or shut them down in order", bind_cluster_stop},
    CommandRow{"cluster start", "Replication", "start brokers", bind_cluster_start},
    CommandRow{"cluster events", "Replication", "show what happened to the cluster", bind_cluster_events},
    CommandRow{"replicate-sim", "Replication", "run fetch rounds, scenarios, or random histories",
               bind_replicate_sim},
    CommandRow{"failover", "Replication", "elect another leader, and count what is lost", bind_failover},
    CommandRow{"retain", "Lifecycle", "delete old segments by age, size and log start offset", bind_retain},
    CommandRow{"compact", "Lifecycle", "keep only the last record of each key", bind_compact},
    CommandRow{"delete-records", "Lifecycle", "delete the records before an offset", bind_delete_records},
    CommandRow{"get-offsets", "Lifecycle", "show first, last or timed offsets of partitions",
               bind_get_offsets},
    CommandRow{"serve", "Server", "serve the directory to Kafka clients and over HTTP", bind_serve},
    CommandRow{"completion", "Other", "print completions for a shell", bind_completion},
    CommandRow{"help", "Other", "show the help of a command", bind_help},
};

std::string_view first_word(std::string_view name) {
  return name.substr(0, name.find(' '));
}

}  // namespace

std::span<const CommandRow> command_rows() {
  return kRows;
}

const CommandRow* find_command(std::string_view name) {
  const auto* it =
      std::find_if(kRows.begin(), kRows.end(), [&](const auto& row) { return row.name == name; });
  return it == kRows.end() ? nullptr : it;
}

bool is_command_prefix(std::string_view word) {
  return std::any_of(kRows.begin(), kRows.end(), [&](const CommandRow& row) {
    return row.name.size() > word.size() && row.name[word.size()] == ' ' && first_word(row.name) == word;
  });
}

std::vector<std::string> command_words(std::string_view prefix) {
  std::vector<std::string> words;
  for (const CommandRow& row : kRows) {
    std::string_view word = first_word(row.name);
    if (!prefix.empty()) {
      if (word != prefix || row.name.size() == word.size()) continue;
      word = row.name.substr(prefix.size() + 1);
    }
    if (words.empty() || words.back() != word) words.emplace_back(word);
  }
  return words;
}

}  // namespace tk::cli
