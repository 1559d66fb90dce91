// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "epilogue/base/error.h"

namespace epi {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const int64_t count : {0, 1, 2, 3, 7, 64, 1000, 4097}) {
    for (const int64_t grain : {1, 2, 16, 5000}) {
      std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
      parallel_for(count, grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
      });
      for (const auto& v : visits) ASSERT_EQ(v.load(), 1) << count << " by " << grain;
    }
  }
}

TEST(ParallelFor, NestedCallRunsInTheCallingThread) {
  std::atomic<int64_t> total{0};
  parallel_for(64, 1, [&](int64_t begin, int64_t end) {
    const auto outer = std::this_thread::get_id();
    parallel_for(100, 1, [&](int64_t b, int64_t e) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      total += (e - b) * (end - begin);
    });
  });
  EXPECT_EQ(total.load(), 6400);
}

// More than the pool serves at a time.
TEST(ParallelFor, RunsFromManyThreads) {
  constexpr int kCallers = 20;
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int t = 0; t < kCallers; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        parallel_for(100, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total.load(), kCallers * 200 * 100);
}

// Counts the threads that have arrived.
class Meeting {
 public:
  void arrive() {
    const std::lock_guard lock(mutex_);
    ++arrived_;
    changed_.notify_all();
  }
  // Whether `threads` threads have arrived, after at most ten seconds.
  bool wait_for(int threads) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return arrived_ >= threads; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
};

TEST(ParallelFor, SecondCallUsesFreeThreads) {
  const int before = num_threads();
  set_num_threads(4);
  // Two parts that occupy the first caller and one worker until the second call is done.
  Meeting first;
  std::promise<void> second_done;
  const std::shared_future<void> end = second_done.get_future().share();
  std::thread caller([&] {
    parallel_for(2, 1, [&](int64_t, int64_t) {
      first.arrive();
      end.wait();
    });
  });
  EXPECT_TRUE(first.wait_for(2));
  Meeting second;
  parallel_for(2, 1, [&](int64_t, int64_t) {
    second.arrive();
    EXPECT_TRUE(second.wait_for(2));
  });
  second_done.set_value();
  caller.join();
  set_num_threads(before);
}

TEST(ParallelFor, BusyWorkersJoinASecondCallWhenTheyAreFree) {
  const int before = num_threads();
  set_num_threads(2);
  Meeting first;
  Meeting second;
  std::promise<void> leave;
  const std::shared_future<void> left = leave.get_future().share();
  std::thread caller([&] {
    parallel_for(2, 1, [&](int64_t, int64_t) {
      first.arrive();
      left.wait();
    });
  });
  EXPECT_TRUE(first.wait_for(2));
  // The only worker is busy until the first part of this call runs.
  std::atomic<bool> released = false;
  parallel_for(2, 1, [&](int64_t, int64_t) {
    if (!released.exchange(true)) leave.set_value();
    second.arrive();
    EXPECT_TRUE(second.wait_for(2));
  });
  caller.join();
  set_num_threads(before);
}

TEST(ParallelFor, PropagatesExceptionsToTheirCallers) {
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([t] {
      const std::string name = "caller " + std::to_string(t);
      for (int i = 0; i < 100; ++i) {
        try {
          parallel_for(100, 1, [&](int64_t begin, int64_t) {
            if (begin == 0) throw std::runtime_error(name);
          });
          ADD_FAILURE() << name << " got no exception";
        } catch (const std::runtime_error& error) {
          EXPECT_EQ(error.what(), name);
        }
      }
    });
  }
  for (auto& caller : callers) caller.join();
}

TEST(ParallelFor, PropagatesExceptions) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_THROW(parallel_for(100, 1,
                              [](int64_t begin, int64_t end) {
                                if (begin <= 73 && 73 < end)
                                  throw std::runtime_error("seventy-three");
                              }),
                 std::runtime_error);
    std::atomic<int64_t> total{0};
    parallel_for(100, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
    EXPECT_EQ(total.load(), 100);
  }
}

TEST(ParallelFor, WakesSleepingWorkers) {
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::atomic<int64_t> total{0};
    parallel_for(1000, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
    EXPECT_EQ(total.load(), 1000);
  }
}

// The number of threads that take part.
size_t threads_used() {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  parallel_for(64, 1, [&](int64_t, int64_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  return threads.size();
}

TEST(ParallelFor, UsesAtMostTheThreadsThatWereSet) {
  const int before = num_threads();
  for (const int threads : {1, 3, 2, 5, 1}) {
    set_num_threads(threads);
    EXPECT_EQ(num_threads(), threads);
    EXPECT_LE(threads_used(), static_cast<size_t>(threads));
    if (threads > 1) {
      EXPECT_GE(threads_used(), 2U);
    }
  }
  EXPECT_THROW(set_num_threads(0), Error);
  EXPECT_THROW(set_num_threads(kMaxThreads + 1), Error);
  EXPECT_EQ(num_threads(), 1);
  set_num_threads(before);
}

TEST(ParallelFor, RunsInTheCallersExecutor) {
  const int before = num_threads();
  set_num_threads(4);
  std::atomic<int64_t> parts_run = 0;
  set_executor([&](int64_t parts, const std::function<void(int64_t)>& run) {
    std::vector<std::thread> threads;
    for (int64_t part = 0; part < parts; ++part) {
      threads.emplace_back([&, part] {
        run(part);
        ++parts_run;
      });
    }
    for (auto& thread : threads) thread.join();
  });
  std::vector<std::atomic<int>> visits(1000);
  parallel_for(1000, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
    parallel_for(10, 1, [](int64_t, int64_t) {});  // stays in this thread
  });
  for (const auto& v : visits) ASSERT_EQ(v.load(), 1);
  EXPECT_EQ(parts_run, 16);
  EXPECT_THROW(parallel_for(100, 1, [](int64_t, int64_t) { throw std::runtime_error("part"); }),
               std::runtime_error);
  set_executor({});
  parts_run = 0;
  parallel_for(1000, 1, [](int64_t, int64_t) {});
  EXPECT_EQ(parts_run, 0);
  set_num_threads(before);
}

// Few pieces are claimed one by one, many in four parts per thread.
TEST(ThreadPool, SplitsFewPiecesEvenly) {
  const int threads = num_threads();
  set_num_threads(4);
  int64_t parts = 0;
  set_executor([&](int64_t count, const std::function<void(int64_t)>& run) {
    parts = count;
    for (int64_t part = 0; part < count; ++part) run(part);
  });
  const auto parts_for = [&](int64_t pieces) {
    parallel_for(pieces, 1, [](int64_t, int64_t) {});
    return parts;
  };
  EXPECT_EQ(parts_for(10), 10);
  EXPECT_EQ(parts_for(64), 64);
  EXPECT_EQ(parts_for(65), 16);
  EXPECT_EQ(parts_for(1000), 16);
  set_executor(nullptr);
  set_num_threads(threads);
}

}  // namespace
}  // namespace epi
