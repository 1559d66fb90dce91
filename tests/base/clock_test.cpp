// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

namespace epi {
namespace {

constexpr int64_t kApartNs = 5000;

// Both clocks at one moment: again until nothing came between the readings.
std::pair<int64_t, int64_t> both_ns() {
  for (;;) {
    const int64_t before_ns = now_ns();
    const auto steady = std::chrono::steady_clock::now().time_since_epoch();
    const int64_t after_ns = now_ns();
    if (after_ns - before_ns < kApartNs) {
      return {after_ns, std::chrono::nanoseconds(steady).count()};
    }
  }
}

TEST(Clock, AgreesWithTheSteadyClock) {
  const auto [ours_begin, steady_begin] = both_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto [ours_end, steady_end] = both_ns();
  const int64_t error_ns = (ours_end - ours_begin) - (steady_end - steady_begin);
  // The readings lie 5 us apart at most; a rate off by 500 ppm, which the widest reading that is
  // accepted can give, adds 100 us.
  EXPECT_LT(std::abs(error_ns), 2 * kApartNs + 100'000);
}

TEST(Clock, NeverRunsBackwardsInAThread) {
  int64_t before = now_ns();
  for (int i = 0; i < 1'000'000; ++i) {
    const int64_t now = now_ns();
    ASSERT_GE(now, before);
    before = now;
  }
}

}  // namespace
}  // namespace epi
