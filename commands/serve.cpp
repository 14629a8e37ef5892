// tk serve
#include <fmt/format.h>

#include "commands/commands.h"
#include "commands/context.h"
#include "commands/diagnostics.h"
#include "commands/serve_options.h"
#include "core/base/json_writer.h"
#include "core/base/text.h"
#include "core/io/output.h"

#ifdef TK_SERVE
#include "core/net/server.h"

namespace tk {
namespace {

net::Address parse_address(const std::string& text, std::uint16_t standard_port) {
  net::Address address{"127.0.0.1", standard_port};
  const auto refuse = [&] {
    return Error(ErrorCode::invalid_request, fmt::format("'{}' is not HOST:PORT, as 127.0.0.1:9092", text));
  };
  std::string host, port = text;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string::npos) throw refuse();
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port[0] != ':') throw refuse();
    if (!port.empty()) port.erase(0, 1);
  } else if (const std::size_t colon = text.rfind(':'); colon != std::string::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (host.find(':') != std::string::npos) throw refuse();
  } else if (!parse_int(text)) {
    host = text;
    port.clear();
  }
  if (!host.empty()) address.host = host == "localhost" ? "127.0.0.1" : host;
  if (port.empty()) return address;
  const auto number = parse_int(port);
  if (!number || *number < 0 || *number > 65535) throw refuse();
  address.port = static_cast<std::uint16_t>(*number);
  return address;
}

bool is_any(const std::string& host) {
  return host == "0.0.0.0" || host == "::";
}

/// Who listens beyond this machine says so twice (serve.md §1.5).
void check_addresses(const net::ServerOptions& options, Context& context) {
  for (const auto* list : {&options.kafka, &options.http}) {
    for (const net::Address& address : *list) {
      if (net::is_loopback(address.host)) continue;
      if (!options.allow_remote) {
        throw Error(ErrorCode::invalid_request,
                    fmt::format("{} can be reached from other machines, and nobody is asked for a password",
                                address.text()))
            .hint("listen on 127.0.0.1, or add --allow-remote if everybody may read and write everything");
      }
      if (list == &options.kafka && is_any(address.host) && !options.advertise) {
        throw Error(ErrorCode::invalid_request, fmt::format("clients cannot be sent to {}", address.text()))
            .hint("say with --advertise HOST:PORT where they find this server");
      }
      context.diagnostics.warning(fmt::format("everyone who reaches {} may read and write everything in {}",
                                              address.text(), context.directory));
    }
  }
}

net::ServerOptions server_options(const ServeOptions& from, const Context& context) {
  net::ServerOptions to = from.server;
  to.directory = context.directory;
  for (const std::string& text : from.kafka) to.kafka.push_back(parse_address(text, 9092));
  for (const std::string& text : from.http) to.http.push_back(parse_address(text, 8080));
  if (to.kafka.empty() && to.http.empty()) to.kafka.push_back({"127.0.0.1", 9092});
  if (from.advertise) to.advertise = parse_address(*from.advertise, 9092);
  // One frame gets in always; a single one above 16 MiB may take more than the rest.
  if (to.max_frame <= (16 << 20)) to.request_memory = std::max(to.request_memory, to.max_frame);
  to.lock_timeout_ms = context.lock_timeout_ms;
  return to;
}

/// Lines on stdout, and what is told to people on stderr.
class ServeReport final : public net::ServerEvents {
 public:
  ServeReport(const ServeOptions& options, const net::ServerOptions& server, Context& context)
      : options_(options), server_(server), context_(context) {}

  void listening(std::string_view listener, const net::Address& address) override {
    ports_ += fmt::format("listening {} {}\n", listener, address.text());
    if (!context_.json) return say(fmt::format("listening {} {}\n", listener, address.text()));
    event("listening", [&](JsonLine& line) {
      line.text("listener", listener).text("host", address.host).number("port", address.port);
    });
  }
  void ready(std::size_t topics, std::size_t partitions, std::int64_t ms) override {
    if (options_.port_file) replace_atomically(context_.fs, *options_.port_file, as_bytes(ports_), false);
    if (server_.read_only)
      context_.diagnostics.note("read-only: nothing is changed, and groups are forgotten at the end");
    if (!context_.json)
      return say(fmt::format("ready {} topics {} partitions {} ms\n", topics, partitions, ms));
    event("ready", [&](JsonLine& line) {
      line.number("topics", static_cast<std::int64_t>(topics))
          .number("partitions", static_cast<std::int64_t>(partitions))
          .number("ms", ms)
          .boolean("read_only", server_.read_only);
    });
  }
  void warning(const Error& error, const PartitionInfo* partition) override {
    const bool damage = exit_code(error.code()) == 3;
    if (damage) {
      context_.diagnostics.error(error);
    } else {
      context_.diagnostics.warning(
          fmt::format("{}{}{}", error.path().empty() ? "" : printable(error.path(), 300) + ": ",
                      error.message(), error.hint().empty() ? "" : "; " + error.hint()));
    }
    if (!context_.json) return;
    event("warning", [&](JsonLine& line) {
      line.text("code", code_name(error.code())).text("message", error.message());
      if (partition == nullptr) return;
      line.text("topic", partition->topic).number("partition", partition->partition.value());
    });
  }
  void topic_created(const std::string& topic, std::int32_t partitions, const std::string& by) override {
    if (!context_.json)
      return context_.diagnostics.detail(fmt::format("made topic '{}' for a client", topic));
    event("topic_created",
          [&](JsonLine& line) { line.text("topic", topic).number("partitions", partitions).text("by", by); });
  }
  void group_changed(const std::string& group, std::string_view state, std::int64_t generation,
                     std::size_t members) override {
    if (!context_.json) return;
    event("group", [&](JsonLine& line) {
      line.text("group", group)
          .text("state", state)
          .number("generation", generation)
          .number("members", static_cast<std::int64_t>(members));
    });
  }
  void connection(std::string_view listener, const std::string& client, bool open) override {
    if (!context_.diagnostics.is_verbose()) return;
    if (!context_.json)
      return context_.diagnostics.detail(
          fmt::format("{} {} {}", listener, client, open ? "connected" : "gone"));
    event("connection", [&](JsonLine& line) {
      line.text("listener", listener).text("client", client).boolean("open", open);
    });
  }
  void request(const std::string& line) override { context_.diagnostics.log(line); }

  void stopped(const net::ServerEnd& end) {
    if (!context_.json) return;
    event("stopped", [&](JsonLine& line) {
      line.text("reason", end.reason)
          .number("requests", static_cast<std::int64_t>(end.requests))
          .number("records_in", static_cast<std::int64_t>(end.records_in))
          .number("records_out", static_cast<std::int64_t>(end.records_out));
    });
  }

 private:
  void say(const std::string& line) {
    context_.out.write(line);
    context_.out.flush();
  }
  template <class Fill>
  void event(std::string_view name, Fill fill) {
    TextBuffer text;
    JsonLine line(text);
    line.text("event", name);
    fill(line);
    line.end();
    say({text.data(), text.size()});
  }

  const ServeOptions& options_;
  const net::ServerOptions& server_;
  Context& context_;
  std::string ports_;
};

}  // namespace

int run_serve(const ServeOptions& options, Context& context) {
  const net::ServerOptions server = server_options(options, context);
  check_addresses(server, context);
  ServeReport report(options, server, context);
  const net::ServerEnd end = net::run_server(context.fs, context.clock, server, report, context.interrupted);
  report.stopped(end);
  return end.reason == "idle" ? context.diagnostics.exit_code() : 0;
}

}  // namespace tk

#else

namespace tk {

int run_serve(const ServeOptions&, Context&) {
  throw Error(ErrorCode::invalid_request, "this tk was built without its server (-DTK_SERVE=OFF)");
}

}  // namespace tk

#endif
