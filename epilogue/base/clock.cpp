// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/clock.h"

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
// Two readings, each off by at most 20 ns, then give the rate to 20 ppm.
constexpr int64_t kMeasureNs = 2'000'000;

// The kernel has checked that the counters of all cores run at one constant rate, in step.
bool counter_is_trusted() {
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return file >> name && name == "tsc";
}

class Counter {
 public:
  Counter() : trusted_(counter_is_trusted()), start_ns_(steady_ns()), start_ticks_(__rdtsc()) {
    if (!trusted_) return;
    int64_t end_ns = 0;
    do {
      end_ns = steady_ns();
    } while (end_ns - start_ns_ < kMeasureNs);
    const uint64_t ticks = __rdtsc() - start_ticks_;
    ns_a_tick_ =
        static_cast<uint64_t>((static_cast<Wide>(end_ns - start_ns_) << kFractionBits) / ticks);
  }

  int64_t now_ns() const {
    if (!trusted_) return steady_ns();
    const Wide ticks = __rdtsc() - start_ticks_;
    return start_ns_ + static_cast<int64_t>((ticks * ns_a_tick_) >> kFractionBits);
  }

 private:
  bool trusted_;
  int64_t start_ns_;
  uint64_t start_ticks_;
  uint64_t ns_a_tick_ = 0;  // fixed point
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
