// Data-parallel work whose results keep the order of its input.
//
// Each worker repeats three steps on a job of its own, whose buffers it reuses: `take` (one worker at a time)
// fills the job with the next piece of input, `work` runs side by side with the others, `give` (one at a
// time, in the order of the takes) hands the result on. Bulk data never crosses from one core to another,
// which on two cores is what makes this twice as fast as a reader-encoder-writer pipeline.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace tk {

/// A place in line: tickets are served strictly in order. Waiting spins for a moment, since the turn usually
/// comes within microseconds, and then sleeps.
class TurnGate {
 public:
  void wait_for(std::uint64_t ticket) const {
    for (int spin = 0; spin < 2000; ++spin) {
      if (now_.load(std::memory_order_acquire) == ticket) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    for (std::uint64_t now = now_.load(std::memory_order_acquire); now != ticket;
         now = now_.load(std::memory_order_acquire)) {
      now_.wait(now, std::memory_order_acquire);
    }
  }
  void pass() {
    now_.fetch_add(1, std::memory_order_acq_rel);
    now_.notify_all();
  }

 private:
  std::atomic<std::uint64_t> now_{0};
};

/// The number of threads for parallel work: as many as there are processors, at most 8.
inline unsigned worker_count() {
  const unsigned cores = std::thread::hardware_concurrency();
  return cores == 0 ? 1 : (cores > 8 ? 8 : cores);
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
    return !stopped_.load(std::memory_order_acquire);
  }

 private:
  const TurnGate& gate_;
  std::uint64_t ticket_;
  const std::atomic<bool>& stopped_;
};

/// Runs take, work and give until `take` returns false or `give` returns false. `jobs` holds one Job a
/// worker. An exception of any step ends the run: everything taken before the failing job has been given,
/// nothing after it is; the exception is thrown on. The caller's thread works alone until `more` says that a
/// job just taken is one of many: a lone piece of input, or a trickle, is worth no second thread.
///
///   bool take(Job&)         false: no more input; the job is not used. May block.
///   void work(Job&)   or  void work(Job&, const OrderedTurn&)
///   bool give(Job&)         false: stop, no further job is given
///   bool more(const Job&)
template <class Job, class Take, class Work, class Give, class More>
void run_ordered(std::vector<std::unique_ptr<Job>>& jobs, Take&& take, Work&& work, Give&& give,
                 More&& more) {
  std::mutex taking;
  std::uint64_t next_ticket = 0;
  std::atomic<bool> stopped{false};
  TurnGate gate;
  std::exception_ptr failure;  // written by the worker whose turn it is

  // Does one job whose take has happened (or thrown); the ticket is always passed on.
  auto finish = [&](Job& job, std::uint64_t ticket, std::exception_ptr thrown) {
    if (!thrown) {
      try {
        if constexpr (std::is_invocable_v<Work&, Job&, const OrderedTurn&>) {
          work(job, OrderedTurn(gate, ticket, stopped));
        } else {
          work(job);
        }
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    gate.wait_for(ticket);
    if (!stopped.load(std::memory_order_acquire)) {
      try {
        if (thrown) std::rethrow_exception(thrown);
        if (!give(job)) stopped.store(true, std::memory_order_release);
      } catch (...) {
        failure = std::current_exception();
        stopped.store(true, std::memory_order_release);
      }
    }
    gate.pass();
  };
  // Takes under the lock; false when there is nothing more to do.
  auto taken = [&](Job& job, std::uint64_t& ticket, std::exception_ptr& thrown) {
    const std::lock_guard lock(taking);
    if (stopped.load(std::memory_order_acquire)) return false;
    try {
      if (!take(job)) return false;
    } catch (...) {
      thrown = std::current_exception();
    }
    ticket = next_ticket++;
    return true;
  };
  std::vector<std::thread> threads;
  std::function<void(Job&, bool)> repeat = [&](Job& job, bool may_start) {
    std::uint64_t ticket = 0;
    std::exception_ptr thrown;
    while (taken(job, ticket, thrown)) {
      if (may_start && threads.empty() && !thrown && more(static_cast<const Job&>(job))) {
        for (std::size_t i = 1; i < jobs.size(); ++i)
          threads.emplace_back([&repeat, &jobs, i] { repeat(*jobs[i], false); });
      }
      finish(job, ticket, thrown);
      if (thrown) return;
    }
  };
  repeat(*jobs[0], true);
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

/// The same where every input is likely to be followed by more.
template <class Job, class Take, class Work, class Give>
void run_ordered(std::vector<std::unique_ptr<Job>>& jobs, Take&& take, Work&& work, Give&& give) {
  run_ordered(jobs, take, work, give, [](const Job&) { return true; });
}

}  // namespace tk
