// Data-parallel work whose results keep the order of its input.
//
// Each worker repeats three steps on a job of its own, whose buffers it reuses: `take` (one worker at a time,
// in the order of their tickets) fills the job with the next piece of input, `work` runs side by side with
// the others, `give` (one at a time, in the order of the takes) hands the result on. Bulk data never crosses
// from one core to another, which on two cores is what makes this twice as fast as a reader-encoder-writer
// pipeline.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

namespace tk {

/// A place in line: tickets are served strictly in order. The turn usually comes within a fraction of a
/// millisecond, and for so long a waiter stays awake: threads that sleep and wake each other every time are
/// kept on one processor by the scheduler, and then work one after the other.
class TurnGate {
 public:
  void wait_for(std::uint64_t ticket) const {
    for (int spin = 0; spin < kSpins; ++spin) {
      if (now_.load(std::memory_order_acquire) == ticket) return;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    const auto give_up = std::chrono::steady_clock::now() + kAwake;
    while (now_.load(std::memory_order_acquire) != ticket) {
      if (std::chrono::steady_clock::now() >= give_up) return sleep_until(ticket);
      std::this_thread::yield();
    }
  }
  void pass() {
    now_.fetch_add(1, std::memory_order_acq_rel);
    now_.notify_all();
  }

 private:
  static constexpr int kSpins = 200;
  static constexpr std::chrono::microseconds kAwake{1000};

  void sleep_until(std::uint64_t ticket) const {
    for (std::uint64_t now = now_.load(std::memory_order_acquire); now != ticket;
         now = now_.load(std::memory_order_acquire)) {
      now_.wait(now, std::memory_order_acquire);
    }
  }

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

/// What a run does before each take, side by side with the others: nothing.
struct NothingBefore {
  template <class Job>
  void operator()(Job&) const {}
};

/// Runs take, work and give until `take` returns false or `give` returns false. `jobs` holds one Job a
/// worker. An exception of any step ends the run: everything taken before the failing job has been given,
/// nothing after it is; the exception is thrown on. The caller's thread works alone until `more` says that a
/// job just taken is one of many: a lone piece of input, or a trickle, is worth no second thread.
///
///   void prepare(Job&)      before its take, in no order; only once there is more than one worker, and
///   perhaps
///                           in vain. An exception is the job's.
///   bool take(Job&)         false: no more input; the job is not used. May block.
///   void work(Job&)   or  void work(Job&, const OrderedTurn&)
///   bool give(Job&)         false: stop, no further job is given
///   bool more(const Job&)
template <class Job, class Take, class Work, class Give, class More, class Prepare = NothingBefore>
void run_ordered(std::vector<std::unique_ptr<Job>>& jobs, Take&& take, Work&& work, Give&& give, More&& more,
                 Prepare&& prepare = {}) {
  std::atomic<std::uint64_t> next_ticket{0};
  std::atomic<bool> stopped{false};
  bool ended = false;  // the input; belongs to whoever's turn to take it is
  TurnGate taking, giving;
  std::exception_ptr failure;  // written by the worker whose turn it is

  // Takes in the order of the tickets; false when there is nothing more to do.
  auto taken = [&](Job& job, std::uint64_t ticket, std::exception_ptr& thrown) {
    taking.wait_for(ticket);
    bool there = !ended && !stopped.load(std::memory_order_acquire);
    if (there && !thrown) {
      try {
        there = take(job);
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    ended |= !there;
    taking.pass();
    return there;
  };
  // Does one job whose take has happened (or thrown).
  auto finish = [&](Job& job, std::uint64_t ticket, std::exception_ptr thrown) {
    if (!thrown) {
      try {
        if constexpr (std::is_invocable_v<Work&, Job&, const OrderedTurn&>) {
          work(job, OrderedTurn(giving, ticket, stopped));
        } else {
          work(job);
        }
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    giving.wait_for(ticket);
    if (!stopped.load(std::memory_order_acquire)) {
      try {
        if (thrown) std::rethrow_exception(thrown);
        if (!give(job)) stopped.store(true, std::memory_order_release);
      } catch (...) {
        failure = std::current_exception();
        stopped.store(true, std::memory_order_release);
      }
    }
    giving.pass();
  };
  std::vector<std::thread> threads;
  std::function<void(Job&, bool)> repeat = [&](Job& job, bool may_start) {
    for (bool alone = may_start;;) {
      const std::uint64_t ticket = next_ticket.fetch_add(1, std::memory_order_relaxed);
      std::exception_ptr thrown;
      if (!alone) {
        try {
          prepare(job);
        } catch (...) {
          thrown = std::current_exception();
        }
      }
      if (!taken(job, ticket, thrown)) {
        // The ticket is passed on all the same: workers with later ones wait for theirs.
        giving.wait_for(ticket);
        giving.pass();
        return;
      }
      if (alone && !thrown && jobs.size() > 1 && more(static_cast<const Job&>(job))) {
        alone = false;
        try {
          for (std::size_t i = 1; i < jobs.size(); ++i)
            threads.emplace_back([&repeat, &jobs, i] { repeat(*jobs[i], false); });
        } catch (const std::system_error&) {
          // The system has no more threads to give: those that there are do the work.
        }
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
