// GET /metrics: Prometheus' text format (serve.md §3.4).
#include "core/net/metrics.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "core/group/commits.h"
#include "core/group/lag.h"
#include "core/net/groups.h"
#include "core/net/http/router.h"

namespace tk::http {
namespace {

/// Series of partitions and groups that are shown.
constexpr std::size_t kMostSeries = 10000;

std::string label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::int64_t resident_bytes() {
  std::int64_t pages = 0, resident = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * ::sysconf(_SC_PAGESIZE);
}

std::int64_t open_descriptors() {
  std::int64_t count = 0;
  if (DIR* const directory = ::opendir("/proc/self/fd")) {
    while (::readdir(directory) != nullptr) ++count;
    ::closedir(directory);
  }
  return std::max<std::int64_t>(count - 3, 0);  // ".", ".." and this one
}

class Page {
 public:
  void head(std::string_view name, std::string_view type, std::string_view help) {
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  template <class T>
  void value(std::string_view name, const std::string& labels, T value) {
    text_ += fmt::format("{}{}{}{} {}\n", name, labels.empty() ? "" : "{", labels, labels.empty() ? "" : "}",
                         value);
  }
  void histogram(const std::string& name, const std::string& labels, const net::Metrics::Histogram& h) {
    const std::string comma = labels.empty() ? "" : ",";
    for (std::size_t i = 0; i < net::Metrics::kBuckets.size(); ++i)
      value(name + "_bucket", fmt::format("{}{}le=\"{}\"", labels, comma, net::Metrics::kBuckets[i]),
            h.buckets[i]);
    value(name + "_bucket", fmt::format("{}{}le=\"+Inf\"", labels, comma), h.count);
    value(name + "_sum", labels, h.sum);
    value(name + "_count", labels, h.count);
  }
  void comment(const std::string& text) { text_ += "# " + text + "\n"; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_requests(Page& page, const net::Metrics& metrics) {
  page.head("tk_requests_total", "counter", "Requests answered.");
  for (const auto& [listener, apis] : metrics.apis) {
    for (const auto& [name, api] : apis)
      page.value("tk_requests_total", fmt::format("listener=\"{}\",api=\"{}\"", listener, label(name)),
                 api.requests);
  }
  page.head("tk_errors_total", "counter", "Answers with an error, by its number or status.");
  for (const auto& [listener, apis] : metrics.apis) {
    for (const auto& [name, api] : apis) {
      for (const auto& [error, count] : api.errors)
        page.value("tk_errors_total", fmt::format("api=\"{}\",error=\"{}\"", label(name), error), count);
    }
  }
  page.head("tk_request_seconds", "histogram", "Time to an answer, without the time it was parked.");
  for (const auto& [listener, apis] : metrics.apis) {
    for (const auto& [name, api] : apis)
      page.histogram("tk_request_seconds", fmt::format("api=\"{}\"", label(name)), api.seconds);
  }
}

void add_partitions(Page& page, const net::Catalog& catalog) {
  struct Row {
    std::string labels;
    net::PartitionEdges edges;
    std::uint64_t bytes;
  };
  std::vector<Row> rows;
  std::size_t waiting = 0, left_out = 0;
  for (const auto& [name, topic] : catalog.topics()) {
    for (const auto& partition : topic->partitions) {
      if (!partition || !partition->is_open()) continue;
      waiting += partition->waiters().size();
      if (rows.size() * 4 >= kMostSeries) {
        ++left_out;
        continue;
      }
      rows.push_back(
          {fmt::format("topic=\"{}\",partition=\"{}\"", label(name), partition->info().partition.value()),
           partition->edges(), partition->log_bytes()});
    }
  }
  page.head("tk_waiting", "gauge", "Requests that wait for a partition.");
  page.value("tk_waiting", "kind=\"records\"", waiting);
  const auto series = [&](const char* name, const char* help, auto get) {
    page.head(name, "gauge", help);
    for (const Row& row : rows) page.value(name, row.labels, get(row));
  };
  series("tk_log_start_offset", "The first offset.", [](const Row& row) { return row.edges.start.value(); });
  series("tk_log_end_offset", "The next offset.", [](const Row& row) { return row.edges.end.value(); });
  series("tk_last_stable_offset", "Where read_committed ends.",
         [](const Row& row) { return row.edges.stable.value(); });
  series("tk_log_bytes", "Bytes of the segments.", [](const Row& row) { return row.bytes; });
  if (left_out > 0) page.comment(fmt::format("{} partitions are left out", left_out));
}

void add_process(Page& page, const net::Service& service, const net::Metrics& metrics) {
  page.head("tk_build_info", "gauge", "1, with the version.");
  page.value("tk_build_info", fmt::format("version=\"{}\"", label(service.options().version)), 1);
  page.head("tk_connections", "gauge", "Open connections.");
  page.value("tk_connections", "listener=\"kafka\"", metrics.kafka_connections);
  page.value("tk_connections", "listener=\"http\"", metrics.http_connections);
  page.head("tk_bytes_total", "counter", "Bytes of all connections.");
  page.value("tk_bytes_total", "direction=\"out\",how=\"sendfile\"", metrics.sent_from_files);
  page.value("tk_bytes_total", "direction=\"out\",how=\"copy\"", metrics.sent_from_memory);
  page.value("tk_bytes_total", "direction=\"in\",how=\"copy\"", metrics.received);
  page.head("tk_sync_seconds", "histogram", "How long forcing a log took.");
  page.histogram("tk_sync_seconds", "", metrics.sync_seconds);
  page.head("tk_sync_batches", "counter", "Appends that were covered by them.");
  page.value("tk_sync_batches", "", metrics.sync_batches);
  page.head("tk_damaged_batches_total", "counter", "Damage that was met.");
  page.value("tk_damaged_batches_total", "", metrics.damaged);
  page.head("process_resident_memory_bytes", "gauge", "Resident memory.");
  page.value("process_resident_memory_bytes", "", resident_bytes());
  page.head("process_open_fds", "gauge", "Open descriptors.");
  page.value("process_open_fds", "", open_descriptors());
  page.head("process_start_time_seconds", "gauge", "When the process started.");
  page.value("process_start_time_seconds", "", static_cast<double>(metrics.started_ms) / 1000);
}

void add_groups(Page& page, GroupStore& store, const GroupTopics& topics) {
  std::vector<std::pair<std::string, std::int64_t>> members, lags;
  for (const std::string& key : store.keys()) {
    try {
      const auto state = store.at_this_moment(store.read_key(key), topics);
      if (!state) continue;
      members.emplace_back(fmt::format("group=\"{}\"", label(state->group)), state->members.size());
      for (const auto& [partition, offset] : state->offsets) {
        const auto edges = topics.edges(partition);
        if (!edges || lags.size() >= kMostSeries) continue;
        lags.emplace_back(fmt::format("group=\"{}\",topic=\"{}\",partition=\"{}\"", label(state->group),
                                      label(partition.topic), partition.partition.value()),
                          lag_of(Offset(offset.offset), edges->log_start, edges->high_watermark));
      }
    } catch (const Error&) {
    }
  }
  page.head("tk_group_members", "gauge", "Members of a group.");
  for (const auto& [labels, value] : members) page.value("tk_group_members", labels, value);
  page.head("tk_group_lag", "gauge", "Records from a group's commit to the end.");
  for (const auto& [labels, value] : lags) page.value("tk_group_lag", labels, value);
}

}  // namespace

void show_metrics(const ExchangePtr& exchange) {
  net::Service& service = exchange->service();
  const auto page = std::make_shared<Page>();
  const net::Metrics& metrics = service.part<net::Metrics>();
  add_process(*page, service, metrics);
  add_requests(*page, metrics);
  add_partitions(*page, *service.catalog());
  service.part<net::Groups>().with_store(
      [page](GroupStore& store, const GroupTopics& topics) { add_groups(*page, store, topics); },
      [exchange, page](const Error*) {
        exchange->respond(200, "text/plain; version=0.0.4; charset=utf-8", page->take());
      });
}

}  // namespace tk::http
