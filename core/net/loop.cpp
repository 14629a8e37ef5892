#include "core/net/loop.h"

// Asio 1.18 forgets <utility> under C++20.
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>

namespace tk::net {
namespace asio = boost::asio;
using TimePoint = asio::steady_timer::time_point;

// One timer of Asio's stands for all: those that wait lie in a map by their time.
struct Loop::Impl {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  asio::steady_timer timer{context};
  std::map<std::pair<TimePoint, TimerId>, Task> waiting;
  std::map<TimerId, TimePoint> times;
  TimePoint armed = TimePoint::max();
  TimerId last = kNoTimer;

  void arm() {
    const TimePoint first = waiting.empty() ? TimePoint::max() : waiting.begin()->first.first;
    if (first >= armed) return;
    armed = first;
    timer.expires_at(first);
    timer.async_wait([this](const boost::system::error_code& error) {
      if (!error) fire();
    });
  }
  void fire() {
    armed = TimePoint::max();
    const TimePoint now = TimePoint::clock::now();
    while (!waiting.empty() && waiting.begin()->first.first <= now) {
      auto node = waiting.extract(waiting.begin());
      times.erase(node.key().second);
      node.mapped()();
    }
    arm();
  }
};

Loop::Loop() : impl_(std::make_unique<Impl>()) {}
Loop::~Loop() = default;

void Loop::run(const std::function<void(const std::exception&)>& failed) {
  for (;;) {
    try {
      impl_->context.run();
      return;
    } catch (const std::exception& error) {
      if (failed) failed(error);
      // It may have come from a timer: the others are waited for again.
      impl_->arm();
    }
  }
}
void Loop::stop() {
  impl_->context.stop();
}
void Loop::post(Task task) {
  asio::post(impl_->context, std::move(task));
}

Loop::TimerId Loop::after(std::int64_t ms, Task task) {
  const TimePoint when = TimePoint::clock::now() + std::chrono::milliseconds(ms < 0 ? 0 : ms);
  const TimerId id = ++impl_->last;
  impl_->waiting.emplace(std::pair(when, id), std::move(task));
  impl_->times.emplace(id, when);
  impl_->arm();
  return id;
}

void Loop::cancel(TimerId timer) {
  const auto at = impl_->times.find(timer);
  if (at == impl_->times.end()) return;
  impl_->waiting.erase({at->second, timer});
  impl_->times.erase(at);
}

struct Loop::Watch::Impl {
  Impl(asio::io_context& context, int number) : descriptor(context, number) {}
  asio::posix::stream_descriptor descriptor;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);

  void wait(asio::posix::stream_descriptor::wait_type type, Task task) {
    descriptor.async_wait(type, [task = std::move(task),
                                 still = std::weak_ptr<bool>(alive)](const boost::system::error_code& error) {
      if (!error && !still.expired()) task();
    });
  }
};

Loop::Watch::Watch(Loop& loop, int descriptor)
    : impl_(std::make_unique<Impl>(loop.impl_->context, descriptor)) {}
Loop::Watch::~Watch() {
  impl_->descriptor.release();
}
void Loop::Watch::when_readable(Task task) {
  impl_->wait(asio::posix::stream_descriptor::wait_read, std::move(task));
}
void Loop::Watch::when_writable(Task task) {
  impl_->wait(asio::posix::stream_descriptor::wait_write, std::move(task));
}

}  // namespace tk::net
