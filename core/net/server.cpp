#include "core/net/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <unordered_map>

#include "core/catalog/log_directory.h"
#include "core/catalog/topics_file.h"
#include "core/io/standard_descriptors.h"
#include "core/net/directory_events.h"
#include "core/net/failure.h"
#include "core/net/groups.h"
#include "core/net/http/connection.h"
#include "core/net/kafka/connection.h"
#include "core/net/maintenance.h"
#include "core/net/metrics.h"
#include "core/net/transactions.h"

namespace tk::net {
namespace {

Address address_of(const sockaddr_storage& from) {
  char text[INET6_ADDRSTRLEN] = "";
  if (from.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(from);
    ::inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof text);
    return {text, ntohs(six.sin6_port)};
  }
  const auto& four = reinterpret_cast<const sockaddr_in&>(from);
  ::inet_ntop(AF_INET, &four.sin_addr, text, sizeof text);
  return {text, ntohs(four.sin_port)};
}

void set(int socket, int level, int name, int value) {
  static_cast<void>(::setsockopt(socket, level, name, &value, sizeof value));
}

/// What the system holds for a reader that is slow; more of it is no faster on one machine, or near it.
constexpr int kSendBuffer = 256 << 10;

/// A peer that has vanished without a word is found: by probes when nothing is sent, by a limit when it is.
void tune(int socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_SNDBUF, kSendBuffer);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 60000);
}

Error cannot_listen(const Address& address, const std::string& why) {
  return Error(ErrorCode::storage_error, fmt::format("cannot listen on {}: {}", address.text(), why))
      .hint("choose another port, or port 0 for any free one");
}

Descriptor listen_on(const Address& address, Address& bound) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (failed != 0) throw cannot_listen(address, ::gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  Descriptor socket(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) throw cannot_listen(address, std::strerror(errno));
  set(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 || ::listen(socket.get(), 1024) != 0)
    throw cannot_listen(address, std::strerror(errno));
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size);
  bound = address_of(name);
  return socket;
}

class Server final : public ConnectionHost {
 public:
  Server(FileSystem& fs, const Clock& clock, ServerOptions options, ServerEvents& events,
         const std::atomic<int>& interrupted)
      : begun_ms_(monotonic_ms()),
        interrupted_(interrupted),
        service_(fs, clock, std::move(options), events) {
    const std::int64_t descriptors = raise_descriptor_limit();
    most_connections_ =
        std::max<std::int64_t>(16, std::min(service_.options().max_connections,
                                            descriptors - std::min<std::int64_t>(1024, descriptors / 2)));
    service_.host().opened = [this](const std::shared_ptr<Partition>& partition) { watch(partition); };
    service_.host().synced = [this](double seconds, std::size_t batches) {
      service_.loop().post([this, seconds, batches] {
        metrics_.sync_seconds.add(seconds);
        metrics_.sync_batches += batches;
      });
    };
    service_.is_crowded = [this] { return is_crowded(); };
    service_.room_for_answer = [this]() -> std::int64_t {
      constexpr std::size_t much = 32U << 20;
      const std::size_t held = unsent_bytes + static_cast<std::size_t>(service_.answers_in_making);
      if (held < much) return INT64_MAX;
      return held < 2 * much ? 256 << 10 : 16 << 10;
    };
    metrics_.started_ms = SystemClock().now_ms();
    directory_.emplace(service_.loop());
  }

  ServerEnd run() {
    for (const Address& address : service_.options().kafka) open_listener(address, false);
    for (const Address& address : service_.options().http) open_listener(address, true);
    note_in_lock_file();
    watch_directory();
    for (const std::unique_ptr<Listener>& listener : listeners_) accept_on(*listener);
    const auto catalog = service_.catalog();
    service_.events().ready(catalog->topics().size(), catalog->partitions(), monotonic_ms() - begun_ms_);
    last_used_ms_ = monotonic_ms();
    service_.part<Maintenance>().start();
    look_for_signals();
    sweep();
    service_.loop().run([this](const std::exception& error) { service_.warn_of(error); });
    service_.shut_down();
    return {reason_, service_.requests, service_.records_in.load(), service_.records_out};
  }

  Loop& loop() override { return service_.loop(); }
  const ServerOptions& options() override { return service_.options(); }
  void closed(Connection& connection) override {
    const auto at = connections_.find(&connection);
    if (at == connections_.end()) return;
    const std::shared_ptr<Connection> kept = at->second.connection;
    service_.events().connection(at->second.is_http ? "http" : "kafka", kept->peer().text(), false);
    --(at->second.is_http ? metrics_.http_connections : metrics_.kafka_connections);
    connections_.erase(at);
    last_used_ms_ = monotonic_ms();
    // It may be in one of its own calls.
    service_.loop().post([kept] {});
  }
  void sent(std::uint64_t from_files, std::uint64_t from_memory) override {
    metrics_.sent_from_files += from_files;
    metrics_.sent_from_memory += from_memory;
  }
  void received(std::uint64_t bytes) override { metrics_.received += bytes; }

 private:
  struct Listener {
    Descriptor socket;
    Address address;
    bool is_http = false;
    std::unique_ptr<Loop::Watch> watch;
  };
  struct Open {
    std::shared_ptr<Connection> connection;
    bool is_http = false;
  };

  void open_listener(const Address& address, bool is_http) {
    auto listener = std::make_unique<Listener>();
    listener->socket = listen_on(address, listener->address);
    listener->is_http = is_http;
    if (!is_http && service_.listening_kafka.empty()) service_.listening_kafka = listener->address.text();
    service_.events().listening(is_http ? "http" : "kafka", listener->address);
    listeners_.push_back(std::move(listener));
  }

  /// Says to whoever finds the lock held who holds it.
  void note_in_lock_file() {
    if (service_.options().read_only) return;
    std::string kafka, http;
    for (const std::unique_ptr<Listener>& listener : listeners_) {
      std::string& to = listener->is_http ? http : kafka;
      if (to.empty()) to = listener->address.text();
    }
    const std::string text =
        fmt::format("{{\"pid\":{},\"kafka\":\"{}\",\"http\":\"{}\",\"started_ms\":{}}}\n", ::getpid(), kafka,
                    http, service_.clock().now_ms());
    const auto file =
        service_.fs().open(join_path(service_.options().directory, kServeLockFile), OpenMode::create);
    file->truncate(0);
    file->write_at(0, as_bytes(text));
  }

  void accept_on(Listener& listener) {
    if (!listener.watch)
      listener.watch = std::make_unique<Loop::Watch>(service_.loop(), listener.socket.get());
    listener.watch->when_readable([this, &listener] {
      accept_all(listener);
      if (!service_.draining()) accept_on(listener);
    });
  }

  void accept_all(Listener& listener) {
    constexpr int most_at_once = 64;
    for (int i = 0; i < most_at_once; ++i) {
      sockaddr_storage from{};
      socklen_t size = sizeof from;
      Descriptor socket(::accept4(listener.socket.get(), reinterpret_cast<sockaddr*>(&from), &size,
                                  SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (socket.get() < 0) return;
      last_used_ms_ = monotonic_ms();
      if (static_cast<std::int64_t>(connections_.size()) >= most_connections_) continue;
      tune(socket.get());
      sockaddr_storage name{};
      size = sizeof name;
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size);
      add(std::move(socket), address_of(from), address_of(name), listener.is_http);
    }
  }

  void add(Descriptor socket, const Address& peer, const Address& local, bool is_http) {
    std::shared_ptr<Connection> connection;
    if (is_http) {
      connection = std::make_shared<http::HttpConnection>(*this, service_, std::move(socket), peer, local);
    } else {
      connection = std::make_shared<kafka::KafkaConnection>(*this, service_, std::move(socket), peer, local);
    }
    ++(is_http ? metrics_.http_connections : metrics_.kafka_connections);
    connections_[connection.get()] = {connection, is_http};
    service_.events().connection(is_http ? "http" : "kafka", peer.text(), true);
    connection->start();
  }

  // ---- the directory

  void watch_directory() {
    const std::string& directory = service_.options().directory;
    const bool watched = directory_->add(directory, [this](const DirectoryEvents::Event& event) {
      if (!event.listed && event.name != kLogStartFile) return;
      if (event.name == kTopicsFile || event.name.empty()) reload_soon();
      if (event.name.starts_with("group-")) service_.part<Groups>().file_changed(event.name);
      if (event.name == kLogStartFile || event.name.empty()) {
        for (const auto& [name, topic] : service_.catalog()->topics()) {
          for (const auto& partition : topic->partitions) {
            if (partition) partition->look_for_start();
          }
        }
      }
      // Topics that nobody lists appear as directories.
      if (service_.options().read_only && parse_partition_directory(event.name)) reload_soon();
    });
    if (!watched) slow_poll_ = true;
  }

  void reload_soon() {
    if (reload_pending_) return;
    reload_pending_ = true;
    service_.admin().post([this] {
      service_.loop().post([this] { reload_pending_ = false; });
      if (const auto failed = failure_of([&] { service_.topics().reload(); })) service_.warn(*failed);
    });
  }

  void watch(const std::shared_ptr<Partition>& partition) {
    if (partition->is_deleted()) return;
    const std::weak_ptr<Partition> weak = partition;
    const bool watched =
        directory_->add(partition->info().directory, [weak](const DirectoryEvents::Event& event) {
          const auto mine = weak.lock();
          if (!mine) return;
          if (event.name.empty() || event.name.ends_with(".log") || event.name.ends_with(".swap"))
            mine->noticed(event.listed);
        });
    if (watched) return;
    polled_.push_back(partition);
    if (std::exchange(warned_of_watches_, true)) return;
    service_.warn(
        Error(ErrorCode::storage_error,
              "no watch is left for some partitions: they are looked at every 100 ms for other writers"));
    poll();
  }

  void poll() {
    for (const std::weak_ptr<Partition>& weak : polled_) {
      const auto partition = weak.lock();
      if (partition && !partition->waiters().empty()) partition->noticed(true);
    }
    service_.loop().after(100, [this] { poll(); });
  }

  // ---- time

  void look_for_signals() {
    if (interrupted_.load() != 0) return begin_end("signal");
    service_.loop().after(50, [this] { look_for_signals(); });
  }

  void sweep() {
    const std::int64_t now = monotonic_ms();
    std::vector<std::shared_ptr<Connection>> all;
    all.reserve(connections_.size());
    for (const auto& [key, open] : connections_) all.push_back(open.connection);
    for (const std::shared_ptr<Connection>& connection : all) connection->check(now);
    if (slow_poll_) reload_soon();
    service_.part<ServedTransactions>().look_for_due();
    const auto idle = service_.options().idle_exit_ms;
    if (idle && connections_.empty() && now - last_used_ms_ >= *idle) return begin_end("idle");
    service_.loop().after(idle ? std::min<std::int64_t>(1000, std::max<std::int64_t>(*idle / 4, 10)) : 1000,
                          [this] { sweep(); });
  }

  // ---- the end

  void begin_end(const std::string& reason) {
    if (service_.draining()) return;
    reason_ = reason;
    service_.set_draining(service_.options().drain_ms + 200);
    listeners_.clear();
    end_by_ms_ = monotonic_ms() + service_.options().drain_ms;
    std::vector<std::shared_ptr<Connection>> all;
    for (const auto& [key, open] : connections_) all.push_back(open.connection);
    for (const std::shared_ptr<Connection>& connection : all) {
      if (const auto kafka = std::dynamic_pointer_cast<kafka::KafkaConnection>(connection)) kafka->drain();
      if (const auto http = std::dynamic_pointer_cast<http::HttpConnection>(connection)) http->drain();
    }
    service_.part<Groups>().drain();
    wait_for_end();
  }

  void wait_for_end() {
    std::vector<std::shared_ptr<Connection>> all;
    for (const auto& [key, open] : connections_) all.push_back(open.connection);
    bool busy = false;
    for (const std::shared_ptr<Connection>& connection : all) {
      if (connection->idle_now()) {
        connection->close();
      } else {
        busy = true;
      }
    }
    if (!busy || monotonic_ms() >= end_by_ms_) {
      for (const std::shared_ptr<Connection>& connection : all) connection->close();
      return service_.loop().stop();
    }
    service_.loop().after(5, [this] { wait_for_end(); });
  }

  std::int64_t begun_ms_;
  const std::atomic<int>& interrupted_;
  Service service_;
  Metrics& metrics_ = service_.part<Metrics>();
  std::optional<DirectoryEvents> directory_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::unordered_map<Connection*, Open> connections_;
  std::vector<std::weak_ptr<Partition>> polled_;
  std::int64_t most_connections_ = 0;
  std::int64_t last_used_ms_ = 0;
  std::int64_t end_by_ms_ = 0;
  bool reload_pending_ = false;
  bool warned_of_watches_ = false;
  bool slow_poll_ = false;
  std::string reason_;
};

}  // namespace

ServerEnd run_server(FileSystem& fs, const Clock& clock, ServerOptions options, ServerEvents& events,
                     const std::atomic<int>& interrupted) {
  return Server(fs, clock, std::move(options), events, interrupted).run();
}

}  // namespace tk::net
