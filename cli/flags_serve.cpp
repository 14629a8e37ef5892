// tk serve (serve.md §4).
#include <memory>

#include "cli/command_table.h"
#include "cli/flags.h"
#include "cli/version.h"
#include "commands/commands.h"
#include "commands/serve_options.h"

namespace tk::cli {
namespace {

std::int64_t parse_ms(const std::string& text) {
  if (text.find_first_not_of("0123456789") == std::string::npos) return parse_number(text, 0);
  return parse_duration_value(text);
}

std::int64_t positive_ms(const std::string& text) {
  const std::int64_t ms = parse_ms(text);
  if (ms == 0) usage_error("0 is too short");
  return ms;
}

void bind_listeners(CommandSpec& spec, ServeOptions* to) {
  spec.list("--kafka", "HOST:PORT",
            "listen for Kafka clients (default: 127.0.0.1:9092); port 0: any free one",
            [to](const std::string& text) { to->kafka.push_back(text); });
  spec.list("--http", "HOST:PORT", "listen for HTTP; port 0: any free one",
            [to](const std::string& text) { to->http.push_back(text); });
  add_topics(spec, to->server.topics);
  spec.flag("--read-only", "change nothing in the directory; a broker's can be served so, too",
            to->server.read_only);
  spec.value("--port-file", "FILE", "write the listening lines there once ready",
             [to](const std::string& text) { to->port_file = text; });
  spec.value("--idle-exit", "MS", "end with exit code 0 after so long without a connection",
             [to](const std::string& text) { to->server.idle_exit_ms = positive_ms(text); });
  spec.flag("--log-requests", "a line on stderr for every request", to->server.log_requests);
}

void bind_topics(CommandSpec& spec, net::ServerOptions* to) {
  spec.group("Topics that clients make");
  spec.choice<bool>("--auto-create", {{"on", true}, {"off", false}},
                    "make topics that clients ask for (default: on)", to->auto_create);
  spec.value("-p,--partitions", "N", "their number of partitions (default: 1)",
             [to](const std::string& text) { to->partitions = parse_partition_count(text); });
  spec.choice<TopicFormat>("--topic-format", {{"kafka", TopicFormat::kafka}, {"json", TopicFormat::json}},
                           "their format (default: kafka)", to->topic_format);
}

void bind_security(CommandSpec& spec, ServeOptions* to) {
  spec.group("Who may reach it");
  spec.flag("--allow-remote", "listen on addresses that other machines reach: all may read and write",
            to->server.allow_remote);
  spec.value("--advertise", "HOST:PORT", "where clients are told to connect (default: where they came in)",
             [to](const std::string& text) { to->advertise = text; });
  spec.value("--node-id", "N", "the broker id that clients see (default: 1)", [to](const std::string& text) {
    to->server.node_id = static_cast<std::int32_t>(parse_number(text, 0, INT32_MAX));
  });
  spec.list("--cors", "ORIGIN", "let web pages of this origin use HTTP",
            [to](const std::string& text) { to->server.cors.push_back(text); });
  spec.list("--http-host", "NAME", "take HTTP requests for this host name, too",
            [to](const std::string& text) { to->server.http_hosts.push_back(text); });
}

void bind_behaviour(CommandSpec& spec, net::ServerOptions* to) {
  spec.group("Durability and groups");
  spec.choice<bool>("--sync", {{"batch", true}, {"none", false}},
                    "batch: acks=all is forced to disk (default); none: left to the system", to->sync);
  spec.value("--flush-ms", "MS", "acks=1 is forced at the latest after so long (default: 1000)",
             [to](const std::string& text) { to->flush_ms = parse_ms(text); });
  spec.choice<bool>("--on-damage", {{"stop", false}, {"skip", true}},
                    "damaged batches: stop: sent as they are (default); skip: left out", to->skip_damage);
  spec.value("--maintain-ms", "MS", "apply retention and compaction so often (default: 300000; 0: never)",
             [to](const std::string& text) { to->maintain_ms = parse_ms(text); });
  spec.value("--rebalance-delay", "MS", "an empty group waits so long for more members (default: 0)",
             [to](const std::string& text) { to->rebalance_delay_ms = parse_ms(text); });
  spec.value("--min-session-ms", "MS", "the shortest session timeout that members may ask for (default: 1)",
             [to](const std::string& text) { to->min_session_ms = positive_ms(text); });
}

void bind_limits(CommandSpec& spec, net::ServerOptions* to) {
  spec.group("Limits");
  spec.value("--max-connections", "N", "connections at once (default: 10000)",
             [to](const std::string& text) { to->max_connections = parse_number(text, 1); });
  spec.value("--max-frame", "SIZE", "the largest request (default: 100M)",
             [to](const std::string& text) { to->max_frame = parse_bytes(text); });
  spec.value("--request-memory", "SIZE", "memory for requests being received or worked on (default: 32M)",
             [to](const std::string& text) { to->request_memory = parse_bytes(text); });
  spec.value("--max-wait-ms", "MS", "the longest HTTP long poll (default: 60000)",
             [to](const std::string& text) { to->max_wait_ms = parse_ms(text); });
  spec.value("--idle-connection-ms", "MS", "close connections that are idle so long (default: 600000)",
             [to](const std::string& text) { to->idle_connection_ms = positive_ms(text); });
  spec.value("--workers", "N", "threads for what may block (default: 2)", [to](const std::string& text) {
    to->workers = static_cast<std::int32_t>(parse_number(text, 1, 256));
  });
  spec.value("--drain-ms", "MS", "how long a signal waits for answers under way (default: 2000)",
             [to](const std::string& text) { to->drain_ms = parse_ms(text); });
}

}  // namespace

void bind_serve(CommandSpec& spec) {
  auto options = std::make_shared<ServeOptions>();
  spec.usage("[TOPIC]...", Completes::topics);
  spec.about(
      "Serves topics to any Kafka client, and over HTTP with long polls, until a signal or --idle-exit ends "
      "it. Holds nothing in memory alone: what was acknowledged with acks=all is on disk (unless --sync "
      "none), and other commands may work on the directory meanwhile. Names may be patterns; without one all "
      "topics are served.");
  options->server.version = std::string(version_text().substr(0, version_text().find('\n')));
  bind_listeners(spec, options.get());
  bind_topics(spec, &options->server);
  bind_security(spec, options.get());
  bind_behaviour(spec, &options->server);
  bind_limits(spec, &options->server);
  spec.example("tk -d data serve");
  spec.example("tk -d data serve --kafka 127.0.0.1:0 --http 127.0.0.1:8080");
  spec.example("tk -d /var/lib/kafka/data serve --read-only");
  spec.example("tk serve 'orders*' --port-file ports.txt --idle-exit 60000");
  spec.run([options](Context& context) { return run_serve(*options, context); });
}

}  // namespace tk::cli
