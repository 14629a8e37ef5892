// A server without sockets: its loop on a thread, and requests handed to the handlers as frames.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <future>
#include <stdexcept>
#include <thread>

#include "core/net/kafka/api.h"
#include "core/net/kafka/handlers.h"

namespace tk::test {

/// Events are of no interest here, but the warnings.
class QuietEvents final : public net::ServerEvents {
 public:
  void listening(std::string_view, const net::Address&) override {}
  void ready(std::size_t, std::size_t, std::int64_t) override {}
  void warning(const Error& error, const PartitionInfo*) override { warnings.push_back(error.message()); }
  void topic_created(const std::string&, std::int32_t, const std::string&) override {}
  void group_changed(const std::string&, std::string_view, std::int64_t, std::size_t) override {}
  void connection(std::string_view, const std::string&, bool) override {}
  void request(const std::string&) override {}
  std::vector<std::string> warnings;
};

class Served {
 public:
  /// `fs`: another disk than the machine's, which outlives the server.
  explicit Served(FileSystem& fs = posix_file_system(), std::int64_t now_ms = 1700000000000)
      : fs_(fs), clock_(now_ms) {
    static int count = 0;
    directory_ = std::filesystem::temp_directory_path() /
                 ("tk-served-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    start();
  }
  ~Served() {
    stop();
    std::filesystem::remove_all(directory_);
  }
  /// Ends it in order, and begins anew on the same directory.
  void restart() {
    stop();
    start();
  }
  /// The same with other options.
  void restart_with(std::function<void(net::ServerOptions&)> change) {
    change_ = std::move(change);
    restart();
  }
  FixedClock& clock() { return clock_; }
  net::Service& service() { return *service_; }
  [[nodiscard]] std::string directory() const { return directory_.string(); }

  /// An answer that is on its way.
  using Asked = std::future<kafka::Call::Outcome>;

  /// Hands a frame (without its length) over, and does not wait.
  Asked begin(ByteView frame) {
    const auto promise = std::make_shared<std::promise<kafka::Call::Outcome>>();
    const auto shared = std::make_shared<Buffer>();
    shared->append(frame);
    service_->loop().post([this, promise, shared] {
      std::size_t size = 0;
      const auto header = kafka::read_request_header(shared->view(), &kafka::is_flexible, size);
      const kafka::ApiRow* const api = header ? kafka::find_api(header->api_key) : nullptr;
      if (api == nullptr) return promise->set_value({kafka::Call::Outcome::Kind::close, {}, 0});
      const auto call = std::make_shared<kafka::Call>(
          *service_, kafka::Peer{{"127.0.0.1", 1}, {"127.0.0.1", 9092}}, *header, shared,
          shared->view().subspan(size),
          [promise](kafka::Call::Outcome outcome) { promise->set_value(std::move(outcome)); });
      api->run(call);
    });
    return promise->get_future();
  }

  /// The bytes of an answer; nothing: no answer, or the connection would be closed.
  std::optional<std::vector<std::uint8_t>> finish(Asked asked, bool* closed = nullptr) {
    if (asked.wait_for(std::chrono::seconds(20)) != std::future_status::ready)
      throw std::runtime_error("no answer");
    kafka::Call::Outcome outcome = asked.get();
    if (closed != nullptr) *closed = outcome.kind == kafka::Call::Outcome::Kind::close;
    if (outcome.kind != kafka::Call::Outcome::Kind::answer) return std::nullopt;
    std::vector<std::uint8_t> bytes;
    for (const net::Piece& piece : outcome.pieces) {
      const std::size_t before = bytes.size();
      bytes.resize(before + piece.size());
      if (piece.file) {
        piece.file->read_at(piece.position, {bytes.data() + before, piece.size()});
      } else {
        std::copy(piece.bytes.view().begin(), piece.bytes.view().end(),
                  bytes.begin() + static_cast<std::ptrdiff_t>(before));
      }
    }
    return bytes;
  }

  std::optional<std::vector<std::uint8_t>> ask(ByteView frame, bool* closed = nullptr) {
    return finish(begin(frame), closed);
  }

  /// A message as a frame.
  template <class Request>
  static Buffer frame_of(Request request, std::int16_t version) {
    net::Chain chain;
    kafka::Writer head(chain, version, Request::kType.flexible(version));
    head.write_int<std::int16_t>(Request::kType.key);
    head.write_int<std::int16_t>(version);
    head.write_int<std::int32_t>(7);
    head.write_int<std::int16_t>(4);
    chain.bytes().append(std::string_view("test"));
    if (Request::kType.flexible(version)) head.write_uvarint(0);
    kafka::write_message(chain, request, version);
    Buffer frame;
    for (net::Piece& piece : chain.take()) frame.append(piece.bytes.view());
    return frame;
  }
  template <class Response, class Request>
  static Response response_of(const std::optional<std::vector<std::uint8_t>>& answer, std::int16_t version) {
    if (!answer) throw std::runtime_error("no answer");
    const std::size_t header = 8 + (Request::kType.flexible(version) ? 1 : 0);
    auto response = kafka::read_message<Response>(ByteView(*answer).subspan(header), version);
    if (!response) throw std::runtime_error("an answer that cannot be read");
    return std::move(*response);
  }
  /// The same with messages.
  template <class Response, class Request>
  Response ask(Request request, std::int16_t version) {
    return response_of<Response, Request>(ask(frame_of(std::move(request), version).view()), version);
  }

  void create_topic(const std::string& name, std::int32_t partitions = 1, ConfigMap configs = {}) {
    kafka::CreateTopicsRequest request;
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    topic.num_partitions = partitions;
    topic.replication_factor = 1;
    for (const auto& [key, value] : configs) topic.configs.push_back({key, value});
    const auto answer = ask<kafka::CreateTopicsResponse>(request, 4);
    if (answer.topics.at(0).error_code != 0) throw std::runtime_error("the topic was not made");
  }

 private:
  void start() {
    net::ServerOptions options;
    options.directory = directory_.string();
    if (change_) change_(options);
    service_ = std::make_unique<net::Service>(fs_, clock_, options, events_);
    thread_ = std::thread([this] { service_->loop().run(); });
  }
  void stop() {
    service_->loop().stop();
    thread_.join();
    service_.reset();
  }

  FileSystem& fs_;
  std::function<void(net::ServerOptions&)> change_;
  FixedClock clock_;
  QuietEvents events_;
  std::filesystem::path directory_;
  std::unique_ptr<net::Service> service_;
  std::thread thread_;
};

}  // namespace tk::test
