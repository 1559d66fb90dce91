// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

namespace epi {
namespace {

constexpr int64_t kMaxApartNs = 5000;

// Reads both clocks at one moment. Repeats until the readings are less than kMaxApartNs apart.
std::pair<int64_t, int64_t> read_both_clocks() {
  for (;;) {
    const int64_t before_ns = now_ns();
    const auto steady = std::chrono::steady_clock::now().time_since_epoch();
    const int64_t after_ns = now_ns();
    if (after_ns - before_ns < kMaxApartNs) {
      return {after_ns, std::chrono::nanoseconds(steady).count()};
    }
  }
}

TEST(Clock, AgreesWithTheSteadyClock) {
  const auto [ours_begin, steady_begin] = read_both_clocks();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const auto [ours_end, steady_end] = read_both_clocks();
  const int64_t error_ns = (ours_end - ours_begin) - (steady_end - steady_begin);
  // Readings are at most 5 us apart. A clock rate that is off by 500 ppm, the largest calibration
  // error that is accepted, adds 100 us over 200 ms.
  EXPECT_LT(std::abs(error_ns), 2 * kMaxApartNs + 100'000);
}

TEST(Clock, IsMonotonicPerThread) {
  int64_t before = now_ns();
  for (int i = 0; i < 1'000'000; ++i) {
    const int64_t now = now_ns();
    ASSERT_GE(now, before);
    before = now;
  }
}

}  // namespace
}  // namespace epi
