#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include "core/base/ordered_workers.h"

using namespace tk;

namespace {
struct Job {
  int in = 0;
  int out = 0;
};
std::vector<std::unique_ptr<Job>> make_jobs(int count) {
  std::vector<std::unique_ptr<Job>> jobs;
  for (int i = 0; i < count; ++i) jobs.push_back(std::make_unique<Job>());
  return jobs;
}
}  // namespace

TEST_SUITE("base.ordered_workers") {
  TEST_CASE("results come in the order of the input, whatever the number of workers") {
    for (const int workers : {1, 2, 3, 5}) {
      CAPTURE(workers);
      auto jobs = make_jobs(workers);
      int next = 0;
      std::vector<int> given;
      run_ordered(
          jobs, [&](Job& job) { return next < 1000 && (job.in = next++, true); },
          [&](Job& job) {
            if (job.in % 7 == 0) std::this_thread::yield();
            job.out = job.in * 2;
          },
          [&](Job& job) {
            given.push_back(job.out);
            return true;
          });
      REQUIRE(given.size() == 1000);
      for (int i = 0; i < 1000; ++i) REQUIRE(given[static_cast<std::size_t>(i)] == 2 * i);
    }
  }

  TEST_CASE("what is prepared out of order is taken and given in order, and may fail") {
    for (const int workers : {1, 2, 4}) {
      for (const int failing : {-1, 40}) {
        CAPTURE(workers);
        CAPTURE(failing);
        auto jobs = make_jobs(workers);
        int next = 0;
        std::atomic<int> prepared{0};
        std::vector<int> given;
        const auto run = [&] {
          run_ordered(
              jobs, [&](Job& job) { return next < 300 && (job.in = next++, true); }, [](Job&) {},
              [&](Job& job) {
                given.push_back(job.in);
                return true;
              },
              [](const Job&) { return true; },
              [&](Job&) {
                if (prepared.fetch_add(1) == failing) throw std::runtime_error("prepare");
              });
        };
        if (failing < 0 || workers == 1) {
          run();
          CHECK(given.size() == 300);
        } else {
          CHECK_THROWS_WITH(run(), "prepare");
          CHECK(given.size() < 300);
        }
        for (std::size_t i = 0; i < given.size(); ++i) REQUIRE(given[i] == static_cast<int>(i));
        if (workers == 1)
          CHECK(prepared == 299);  // the first job is taken before it is known to be one of many
      }
    }
  }

  TEST_CASE("no input at all gives nothing") {
    auto jobs = make_jobs(2);
    int given = 0;
    run_ordered(
        jobs, [](Job&) { return false; }, [](Job&) {}, [&](Job&) { return ++given > 0; });
    CHECK(given == 0);
  }

  TEST_CASE("give can stop the run; nothing after it is given") {
    auto jobs = make_jobs(2);
    int next = 0;
    std::vector<int> given;
    run_ordered(
        jobs, [&](Job& job) { return job.in = next++, true; }, [](Job&) {},
        [&](Job& job) {
          given.push_back(job.in);
          return given.size() < 10;
        });
    CHECK(given == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  }

  TEST_CASE("a failure in any step is thrown on, after all that came before it was given") {
    for (const int step : {0, 1, 2}) {
      for (const int at : {0, 1, 5}) {
        CAPTURE(step);
        CAPTURE(at);
        auto jobs = make_jobs(2);
        int next = 0;
        std::vector<int> given;
        auto fail_at = [&](int here, int value) {
          if (here == step && value == at) throw std::runtime_error("planned");
        };
        CHECK_THROWS_AS(run_ordered(
                            jobs,
                            [&](Job& job) {
                              job.in = next++;
                              fail_at(0, job.in);
                              return true;
                            },
                            [&](Job& job) { fail_at(1, job.in); },
                            [&](Job& job) {
                              fail_at(2, job.in);
                              given.push_back(job.in);
                              return true;
                            }),
                        std::runtime_error);
        REQUIRE(given.size() == static_cast<std::size_t>(at));
        for (int i = 0; i < at; ++i) CHECK(given[static_cast<std::size_t>(i)] == i);
      }
    }
  }
}
