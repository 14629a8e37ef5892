#include "core/net/service.h"

#include <fmt/format.h>

#include <condition_variable>

#include "core/cluster/cluster.h"
#include "core/io/turn_lock.h"
#include "core/net/failure.h"

namespace tk::net {
namespace {

/// The one writing server of a directory holds byte 0 of this file.
std::unique_ptr<LockFile> lock_serve(FileSystem& fs, const std::string& directory) {
  fs.make_directories(directory);
  // A live broker's directory gets no file of ours.
  static_cast<void>(lock_directory_shared(fs, directory));
  const std::string path = join_path(directory, kServeLockFile);
  auto lock = fs.open_lock(path);
  if (lock->try_lock(LockKind::exclusive, 0, 1)) return lock;
  std::string who = read_whole(fs, path, 65536);
  while (!who.empty() && (who.back() == '\n' || who.back() == ' ')) who.pop_back();
  throw Error(ErrorCode::log_dir_locked,
              "another server writes to this directory" + (who.empty() ? "" : ": " + who))
      .at(path)
      .hint("stop it first, or serve with --read-only");
}

/// A cluster's clock stands still between commands: its brokers can be looked at one by one.
void refuse_cluster(FileSystem& fs, const std::string& directory) {
  if (!is_cluster(fs, directory)) return;
  std::string brokers;
  for (const DirEntry& entry : fs.list(directory)) {
    if (entry.is_directory && entry.name.starts_with("broker-"))
      brokers += (brokers.empty() ? "" : ", ") + entry.name;
  }
  throw Error(ErrorCode::invalid_request, "this is a cluster of tk's, which is not served")
      .at(directory)
      .hint("serve one of its brokers with --read-only: " + brokers);
}

}  // namespace

Service::Service(FileSystem& fs, const Clock& clock, ServerOptions options, ServerEvents& events)
    : fs_(fs),
      clock_(clock),
      options_(std::move(options)),
      events_(events),
      workers_(std::make_unique<Workers>(options_.workers,
                                         [this](const std::exception& error) { warn_of(error); })),
      writers_(
          std::make_unique<Workers>(kMostWriters, [this](const std::exception& error) { warn_of(error); })),
      host_{fs, clock, loop_, *writers_},
      admin_(*workers_) {
  host_.read_only = options_.read_only;
  host_.forces = options_.sync;
  host_.flush_ms = options_.flush_ms;
  host_.lock_timeout_ms = options_.lock_timeout_ms;
  host_.skips_damage = options_.skip_damage;
  host_.open_log = [this](const PartitionInfo& info) { return topics_->open_log(info); };
  host_.checkpointed_start = [this](const PartitionInfo& info) { return topics_->checkpointed_start(info); };
  host_.warn = [this](const PartitionInfo* partition, const Error& error) { warn(error, partition); };
  host_.opened = [](const std::shared_ptr<Partition>&) {};
  host_.synced = [](double, std::size_t) {};
  refuse_cluster(fs, options_.directory);
  if (!options_.read_only) serve_lock_ = lock_serve(fs, options_.directory);
  Topics::Options how;
  how.directory = options_.directory;
  how.read_only = options_.read_only;
  how.only = options_.topics;
  how.lock_wait = lock_wait();
  topics_ = std::make_unique<Topics>(fs, how, host_);
  if (topics_->is_broker() && !options_.read_only) {
    throw Error(ErrorCode::invalid_request, "this is a Kafka broker's directory: it is served read-only")
        .at(options_.directory)
        .hint("add --read-only");
  }
  cluster_id_ = topics_->cluster_id();
}

Service::~Service() {
  shut_down();
}

void Service::set_draining(std::int64_t locks_for_ms) {
  draining_ = true;
  const std::int64_t now = monotonic_ms();
  no_locks_after_ms_ = locks_for_ms > INT64_MAX - now ? INT64_MAX : now + locks_for_ms;
}

void Service::shut_down() {
  if (!workers_) return;
  workers_.reset();  // what they still do may append
  for (const auto& [name, topic] : catalog()->topics()) {
    for (const std::shared_ptr<Partition>& partition : topic->partitions) {
      if (partition && partition->is_open())
        partition->queue().post([partition] { partition->close_writer(); });
    }
  }
  writers_.reset();
}

void Service::warn_of(const std::exception& error) {
  warn(Error(ErrorCode::unknown_server_error, fmt::format("a request failed: {}", error.what())));
}

void Service::warn(Error error, const PartitionInfo* partition) {
  std::shared_ptr<PartitionInfo> copy;
  if (partition != nullptr) copy = std::make_shared<PartitionInfo>(*partition);
  loop_.post([this, error = std::move(error), copy] { events_.warning(error, copy.get()); });
}

void Service::administer(std::function<void()> work, std::function<void(const Error*)> done) {
  admin_.post([this, work = std::move(work), done = std::move(done)] {
    const std::shared_ptr<Error> failed = failure_of(work);
    loop_.post([done, failed] { done(failed.get()); });
  });
}

void Service::auto_create(std::vector<std::string> names, const std::string& by, std::function<void()> done,
                          std::function<bool()> wanted) {
  const auto made = std::make_shared<std::vector<std::string>>();
  administer(
      [this, names = std::move(names), made, wanted = std::move(wanted)] {
        std::int64_t partitions = 0;
        for (const std::string& name : names) {
          // What one request may make (serve.md §1.4); the others are unknown topics.
          if ((partitions += options_.partitions) > kMostNewPartitions || (wanted && !wanted())) break;
          try {
            NewTopic topic;
            topic.name = name;
            topic.partitions = options_.partitions;
            topic.format = options_.topic_format;
            topics_->create(topic);
            made->push_back(name);
          } catch (const Error& error) {
            if (error.code() != ErrorCode::topic_already_exists) warn(error);
          }
        }
      },
      [this, made, by, done = std::move(done)](const Error*) {
        for (const std::string& name : *made) events_.topic_created(name, options_.partitions, by);
        done();
      });
}

}  // namespace tk::net
