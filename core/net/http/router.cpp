#include "core/net/http/router.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json_writer.h"

namespace tk::http {
namespace {

/// The name in a Host header, without the port.
std::string host_name(std::string host) {
  if (host.starts_with('[')) return host.substr(1, std::min(host.find(']'), host.size()) - 1);
  const std::size_t colon = host.find(':');
  if (colon != std::string::npos) host.resize(colon);
  std::ranges::transform(host, host.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return host;
}

/// Whether the request was meant for this server: a page of another name that resolves to it is not (DNS
/// rebinding).
bool is_for_us(const Request& request, const net::ServerOptions& options, const net::Address& local) {
  if (request.ambiguous_host) return false;
  const std::string given = request.header("host");
  if (given.empty()) return request.is_1_0;
  const std::string host = host_name(given);
  if (host == local.host) return true;
  if (net::is_loopback(local.host) && (host == "localhost" || net::is_loopback(host))) return true;
  if (options.advertise && host == options.advertise->host) return true;
  return std::ranges::find(options.http_hosts, host) != options.http_hosts.end();
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t begin = at + (path[at] == '/' ? 1 : 0);
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) parts.push_back(path.substr(begin, end - begin));
    at = std::max(end, begin);
    if (begin >= path.size()) break;
  }
  return parts;
}

void refuse_method(const ExchangePtr& exchange, const std::string& allowed) {
  exchange->respond_error(405, "INVALID_REQUEST",
                          fmt::format("{} is not for this path", exchange->request().method), "",
                          {{"Allow", allowed}});
}

void refuse_path(const ExchangePtr& exchange) {
  exchange->respond_error(404, "INVALID_REQUEST", "there is nothing at this path");
}

void show_root(const ExchangePtr& exchange) {
  const net::Service& service = exchange->service();
  TextBuffer text;
  JsonLine line(text);
  line.text("name", "tk").text("version", service.options().version).text("cluster_id", service.cluster_id());
  const auto& kafka = service.listening_kafka;
  line.text_or_null("kafka", kafka.empty() ? std::nullopt : std::optional<std::string_view>(kafka));
  line.boolean("read_only", service.options().read_only);
  line.number("topics", static_cast<std::int64_t>(service.catalog()->topics().size()));
  line.end();
  exchange->respond(200, kJson, std::string(text.begin(), text.end()));
}

std::optional<std::int32_t> partition_of(const std::string& text) {
  const auto number = parse_int(text);
  if (!number || *number < 0 || *number > INT32_MAX) return std::nullopt;
  return static_cast<std::int32_t>(*number);
}

void route_topic(const ExchangePtr& exchange, const std::string& method,
                 const std::vector<std::string>& parts) {
  const std::string& topic = parts[1];
  const bool get = method == "GET";
  if (parts.size() == 2) {
    if (get) return describe_topic(exchange, topic);
    if (method == "DELETE") return delete_topic(exchange, topic);
    return refuse_method(exchange, "GET, HEAD, DELETE");
  }
  if (parts.size() == 3 && parts[2] == "records") {
    if (get) return read_records(exchange, topic, -1);
    if (method == "POST") return append_records(exchange, topic, -1);
    return refuse_method(exchange, "GET, HEAD, POST");
  }
  if (parts.size() != 5 || parts[2] != "partitions") return refuse_path(exchange);
  const auto partition = partition_of(parts[3]);
  if (!partition) return refuse_path(exchange);
  if (parts[4] == "records") {
    if (get) return read_records(exchange, topic, *partition);
    if (method == "POST") return append_records(exchange, topic, *partition);
    return refuse_method(exchange, "GET, HEAD, POST");
  }
  if (parts[4] != "offsets") return refuse_path(exchange);
  if (get) return get_offsets(exchange, topic, *partition);
  refuse_method(exchange, "GET, HEAD");
}

void route_group(const ExchangePtr& exchange, const std::string& method,
                 const std::vector<std::string>& parts) {
  const bool get = method == "GET";
  if (parts.size() == 2)
    return get ? describe_group(exchange, parts[1]) : refuse_method(exchange, "GET, HEAD");
  if (parts.size() != 3) return refuse_path(exchange);
  if (parts[2] == "members")
    return get ? describe_members(exchange, parts[1]) : refuse_method(exchange, "GET, HEAD");
  if (parts[2] == "offsets")
    return method == "PUT" ? put_offsets(exchange, parts[1]) : refuse_method(exchange, "PUT");
  refuse_path(exchange);
}

void route_path(const ExchangePtr& exchange, const std::string& method,
                const std::vector<std::string>& parts) {
  const bool get = method == "GET";
  if (exchange->request().path.empty()) return refuse_path(exchange);  // a malformed one
  if (parts.empty()) return get ? show_root(exchange) : refuse_method(exchange, "GET, HEAD");
  if (parts[0] == "topics") {
    if (parts.size() > 1) return route_topic(exchange, method, parts);
    if (get) return list_topics(exchange);
    if (method == "POST") return create_topic(exchange);
    return refuse_method(exchange, "GET, HEAD, POST");
  }
  if (parts[0] == "groups") {
    if (parts.size() > 1) return route_group(exchange, method, parts);
    return get ? list_groups(exchange) : refuse_method(exchange, "GET, HEAD");
  }
  if (parts.size() > 1) return refuse_path(exchange);
  if (parts[0] == "healthz" || parts[0] == "readyz") {
    if (!get) return refuse_method(exchange, "GET, HEAD");
    if (parts[0] == "readyz" && exchange->service().draining())
      return exchange->respond_error(503, "STORAGE_ERROR", "the server is stopping");
    return exchange->respond(200, kText, std::string("ok\n"));
  }
  if (parts[0] == "metrics") return get ? show_metrics(exchange) : refuse_method(exchange, "GET, HEAD");
  refuse_path(exchange);
}

/// What pages of other origins may do; false if the request was answered.
bool check_origin(const ExchangePtr& exchange) {
  const Request& request = exchange->request();
  const std::string origin = request.header("origin");
  if (origin.empty()) return true;
  const auto& allowed = exchange->service().options().cors;
  if (std::ranges::find(allowed, origin) == allowed.end()) {
    exchange->respond_error(403, "POLICY_VIOLATION",
                            "pages of this origin may not use the server (--cors names those that may)");
    return false;
  }
  exchange->common_headers.emplace_back("Access-Control-Allow-Origin", origin);
  exchange->common_headers.emplace_back("Vary", "Origin");
  exchange->common_headers.emplace_back("Access-Control-Expose-Headers",
                                        "Tk-Next, Tk-High-Watermark, Tk-Log-Start-Offset");
  if (request.method != "OPTIONS") return true;
  exchange->respond(204, "", std::string(),
                    {{"Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, DELETE"},
                     {"Access-Control-Allow-Headers", "Content-Type, Last-Event-ID"},
                     {"Access-Control-Max-Age", "600"}});
  return false;
}

}  // namespace

void respond_no_topic(const ExchangePtr& exchange, const std::string& topic) {
  exchange->respond_error(Error(ErrorCode::unknown_topic_or_partition,
                                fmt::format("there is no topic '{}'", printable(topic, 300))));
}

void route(const ExchangePtr& exchange, const net::Address& local) {
  const Request& request = exchange->request();
  if (!is_for_us(request, exchange->service().options(), local)) {
    return exchange->respond_error(421, "POLICY_VIOLATION",
                                   "the Host header is no address of this server (--http-host names others)");
  }
  if (!check_origin(exchange)) return;
  try {
    route_path(exchange, request.method == "HEAD" ? "GET" : request.method, parts_of(request.path));
  } catch (const Error& error) {
    exchange->respond_error(error);
  }
}

}  // namespace tk::http
