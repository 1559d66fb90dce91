// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/clock.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace epi {
namespace {

int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

#if defined(__x86_64__)

__extension__ using Wide = unsigned __int128;
constexpr int kFractionBits = 32;
constexpr int64_t kMeasureNs = 2'000'000;
constexpr int kTries = 20;
// An undisturbed reading takes about 100 ticks, which is 20 ppm of the two milliseconds. If a
// reading is ten times as wide, the calibration is unusable and the steady clock is used instead.
constexpr uint64_t kMaxWidthTicks = 1000;

// True if the kernel uses the TSC as its clock source, which means that it found the counters of
// all cores synchronized and running at one constant rate.
bool counter_is_trusted() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return file >> name && name == "tsc";
}

// Both clocks read at the same moment, to within `width` ticks. `read_both` keeps the narrowest of
// several attempts.
struct Reading {
  int64_t ns = 0;
  uint64_t ticks = 0;
  uint64_t width = UINT64_MAX;
};

Reading read_both() {
  Reading best;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before = __rdtsc();
    const int64_t ns = steady_ns();
    const uint64_t width = __rdtsc() - before;
    if (width < best.width) best = {ns, before + width / 2, width};
  }
  return best;
}

class Counter {
 public:
  Counter() : start_(read_both()) {
    while (steady_ns() - start_.ns < kMeasureNs) {
    }
    const Reading end = read_both();
    trusted_ = counter_is_trusted() && std::max(start_.width, end.width) <= kMaxWidthTicks;
    ns_per_tick_ = static_cast<uint64_t>((static_cast<Wide>(end.ns - start_.ns) << kFractionBits) /
                                         (end.ticks - start_.ticks));
  }

  int64_t now_ns() const {
    if (!trusted_) return steady_ns();
    const Wide ticks = __rdtsc() - start_.ticks;
    return start_.ns + static_cast<int64_t>((ticks * ns_per_tick_) >> kFractionBits);
  }

 private:
  Reading start_;
  bool trusted_ = false;
  uint64_t ns_per_tick_ = 0;  // fixed point
};

#endif

}  // namespace

int64_t now_ns() {
#if defined(__x86_64__)
  static const Counter counter;
  return counter.now_ns();
#else
  return steady_ns();
#endif
}

}  // namespace epi
