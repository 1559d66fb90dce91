// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

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

TEST(ParallelFor, RunsFromSeveralThreads) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        parallel_for(100, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total.load(), 8 * 200 * 100);
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

}  // namespace
}  // namespace epi
