// Data-parallel work whose results keep the order of its input.
//
// Each worker repeats three steps on a job, whose buffers are reused: `take` (one worker at a time, in the
// order of their tickets) fills the job with the next piece of input, `work` runs side by side with the
// others, `give` (one at a time, in the order of the takes) hands the result on. Nobody waits for his turn to
// give: a result whose turn has not come is left to whoever gives the one before it, and its worker goes on
// with another job. Bulk data hardly crosses from one core to another, which on two cores is what makes this
// twice as fast as a reader-encoder-writer pipeline.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/base/processors.h"

namespace tk {

namespace detail {

/// Waits until `done()`, which looks at `changing`. What is waited for mostly comes within a fraction of a
/// millisecond, and for so long a waiter stays awake: threads that sleep and wake each other every time are
/// kept on one processor by the scheduler, and then work one after the other. Whoever changes it notifies.
template <class Done>
void await_change(const std::atomic<std::uint64_t>& changing, Done&& done) {
  constexpr int spins = 200;
  constexpr std::chrono::microseconds awake{1000};
  for (int spin = 0; spin < spins; ++spin) {
    if (done()) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  const auto give_up = std::chrono::steady_clock::now() + awake;
  while (!done()) {
    if (std::chrono::steady_clock::now() < give_up) {
      std::this_thread::yield();
      continue;
    }
    const std::uint64_t now = changing.load();
    if (!done()) changing.wait(now);
  }
}

inline void change(std::atomic<std::uint64_t>& changing) {
  changing.fetch_add(1);
  changing.notify_all();
}

}  // namespace detail

/// A place in line: tickets are served strictly in order.
class TurnGate {
 public:
  [[nodiscard]] bool is_turn_of(std::uint64_t ticket) const { return now_.load() == ticket; }
  void wait_for(std::uint64_t ticket) const {
    detail::await_change(now_, [&] { return is_turn_of(ticket); });
  }
  void pass() { detail::change(now_); }
  [[nodiscard]] std::uint64_t now() const { return now_.load(); }

 private:
  std::atomic<std::uint64_t> now_{0};
};

/// The number of threads for parallel work: as many as there are processors for it, at most 8.
inline unsigned worker_count() {
  return std::min(usable_processors(), 8U);
}

/// The number of jobs that keeps so many threads busy: beyond one each, some whose results wait for their
/// turn.
inline unsigned job_count() {
  return worker_count() == 1 ? 1 : worker_count() + 2;
}

/// A job's place in the order, for work whose result grows too large to be kept until its turn.
class OrderedTurn {
 public:
  OrderedTurn(const TurnGate& gate, std::uint64_t ticket, const std::atomic<bool>& stopped)
      : gate_(gate), ticket_(ticket), stopped_(stopped) {}
  /// Waits until everything taken before has been given: from then on this job may hand results on by itself.
  /// False if the run was stopped meanwhile.
  bool await() const {
    gate_.wait_for(ticket_);
    return !stopped_.load();
  }

 private:
  const TurnGate& gate_;
  std::uint64_t ticket_;
  const std::atomic<bool>& stopped_;
};

/// What a run does before each take, side by side with the others: nothing.
struct NothingBefore {
  template <class Job>
  void operator()(Job&) const {}
};

/// The state of one run. `Job`s belong to the caller; each is with one thread at a time.
template <class Job, class Take, class Work, class Give, class More, class Prepare>
class OrderedRun {
 public:
  OrderedRun(std::vector<std::unique_ptr<Job>>& jobs, Take& take, Work& work, Give& give, More& more,
             Prepare& prepare)
      : jobs_(jobs),
        take_(take),
        work_(work),
        give_(give),
        more_(more),
        prepare_(prepare),
        results_(jobs.size()) {
    for (const auto& job : jobs) free_.push_back(job.get());
  }

  void run() {
    repeat(true);
    for (std::thread& thread : threads_) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  /// What came of a ticket, until it is given. Without a job: the input had ended.
  struct Result {
    Job* job = nullptr;
    std::exception_ptr thrown;
    std::atomic<bool> there{false};
  };

  void repeat(bool alone) {
    for (;;) {
      Job& job = free_job();
      const std::uint64_t ticket = next_ticket_.fetch_add(1);
      std::exception_ptr thrown;
      if (!alone) {
        try {
          prepare_(job);
        } catch (...) {
          thrown = std::current_exception();
        }
      }
      if (!taken(job, ticket, thrown)) return deliver(ticket, nullptr, nullptr);
      if (alone && !thrown && jobs_.size() > 1 && more_(static_cast<const Job&>(job))) {
        start_others();
        alone = threads_.empty();
      }
      const bool last = thrown != nullptr;
      if (!thrown) do_work(job, ticket, thrown);
      deliver(ticket, &job, thrown);
      if (last) return;
    }
  }

  void start_others() {
    try {
      const std::size_t workers = std::min<std::size_t>(worker_count(), jobs_.size());
      for (std::size_t i = 1; i < workers; ++i) threads_.emplace_back([this] { repeat(false); });
    } catch (const std::system_error&) {
      // The system has no more threads to give: those that there are do the work.
    }
  }

  Job& free_job() {
    for (;;) {
      const std::uint64_t before = freed_.load();
      {
        const std::scoped_lock lock(free_mutex_);
        if (!free_.empty()) {
          Job& job = *free_.back();
          free_.pop_back();
          return job;
        }
      }
      detail::await_change(freed_, [&] { return freed_.load() != before; });
    }
  }

  /// Takes in the order of the tickets; false when there is nothing more to do.
  bool taken(Job& job, std::uint64_t ticket, std::exception_ptr& thrown) {
    taking_.wait_for(ticket);
    bool there = !ended_ && !stopped_.load();
    if (there && !thrown) {
      try {
        there = take_(job);
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    ended_ |= !there;
    taking_.pass();
    return there;
  }

  void do_work(Job& job, std::uint64_t ticket, std::exception_ptr& thrown) {
    try {
      if constexpr (std::is_invocable_v<Work&, Job&, const OrderedTurn&>) {
        work_(job, OrderedTurn(giving_, ticket, stopped_));
      } else {
        work_(job);
      }
    } catch (...) {
      thrown = std::current_exception();
    }
  }

  /// Leaves what came of the ticket for its turn. One thread at a time gives what is due; it looks once more
  /// after it has stepped back, so nothing stays behind that was left while it was at it.
  void deliver(std::uint64_t ticket, Job* job, std::exception_ptr thrown) {
    Result& mine = results_[ticket % results_.size()];
    mine.job = job;
    mine.thrown = std::move(thrown);
    mine.there.store(true);
    while (next_result().there.load() && !giver_.exchange(true)) {
      while (next_result().there.load()) give_next();
      giver_.store(false);
    }
  }
  Result& next_result() { return results_[giving_.now() % results_.size()]; }

  void give_next() {
    Result& result = next_result();
    if (result.job != nullptr && !stopped_.load()) {
      try {
        if (result.thrown) std::rethrow_exception(result.thrown);
        if (!give_(*result.job)) stopped_.store(true);
      } catch (...) {
        failure_ = std::current_exception();
        stopped_.store(true);
      }
    }
    Job* const job = result.job;
    result.thrown = nullptr;
    // Its place is taken again by a job that is free again: this first, and the turn before that.
    result.there.store(false);
    giving_.pass();
    if (job == nullptr) return;
    {
      const std::scoped_lock lock(free_mutex_);
      free_.push_back(job);
    }
    detail::change(freed_);
  }

  std::vector<std::unique_ptr<Job>>& jobs_;
  Take& take_;
  Work& work_;
  Give& give_;
  More& more_;
  Prepare& prepare_;
  std::vector<Result> results_;
  std::vector<std::thread> threads_;
  std::mutex free_mutex_;
  std::vector<Job*> free_;
  std::atomic<std::uint64_t> freed_{0};
  std::atomic<std::uint64_t> next_ticket_{0};
  TurnGate taking_, giving_;
  std::atomic<bool> giver_{false};
  std::atomic<bool> stopped_{false};
  bool ended_ = false;          // the input; belongs to whoever's turn to take it is
  std::exception_ptr failure_;  // belongs to the giver
};

/// Runs take, work and give until `take` returns false or `give` returns false, in as many threads as
/// worker_count() and the number of `jobs` allow. An exception of any step ends the run: everything taken
/// before the failing job has been given, nothing after it is; the exception is thrown on. The caller's
/// thread works alone until `more` says that a job just taken is one of many: a lone piece of input, or a
/// trickle, is worth no second thread.
///
///   void prepare(Job&)      before its take, in no order; only once there is more than one worker, and
///                           perhaps in vain. An exception is the job's.
///   bool take(Job&)         false: no more input; the job is not used. May block.
///   void work(Job&)   or  void work(Job&, const OrderedTurn&)
///   bool give(Job&)         false: stop, no further job is given
///   bool more(const Job&)
template <class Job, class Take, class Work, class Give, class More, class Prepare = NothingBefore>
void run_ordered(std::vector<std::unique_ptr<Job>>& jobs, Take&& take, Work&& work, Give&& give, More&& more,
                 Prepare&& prepare = {}) {
  OrderedRun<Job, Take, Work, Give, More, Prepare>(jobs, take, work, give, more, prepare).run();
}

/// The same where every input is likely to be followed by more.
template <class Job, class Take, class Work, class Give>
void run_ordered(std::vector<std::unique_ptr<Job>>& jobs, Take&& take, Work&& work, Give&& give) {
  run_ordered(jobs, take, work, give, [](const Job&) { return true; });
}

}  // namespace tk
