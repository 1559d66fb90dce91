// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu_forward/timing.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <utility>

#include "epilogue/base/clock.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/cuda/stream.h"

namespace epi::bench {
namespace {

constexpr int kIssueCalls = 101;
constexpr double kRoundUs = 20000;  // minimum duration of a round

// The pause between rounds: EPI_PAUSE_MS, 50 by default.
std::chrono::milliseconds pause() {
  const char* text = std::getenv("EPI_PAUSE_MS");
  return std::chrono::milliseconds(text == nullptr ? 50 : std::atoi(text));
}

}  // namespace

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

Spread issue_us(const Body& body) {
  std::vector<double> times;
  for (int i = 0; i < kIssueCalls; ++i) {
    cuda::synchronize();
    const int64_t start_ns = now_ns();
    body();
    times.push_back(static_cast<double>(now_ns() - start_ns) / 1000);
  }
  return spread_of(std::move(times));
}

Spread wall_us(const Body& body, int rounds) {
  const cuda::Event start(cuda::Event::Timing::kOn);
  const cuda::Event end(cuda::Event::Timing::kOn);
  const auto timed = [&](int calls) {
    start.record(cuda::current_stream());
    for (int i = 0; i < calls; ++i) body();
    end.record(cuda::current_stream());
    end.synchronize();
    return static_cast<double>(end.ms_since(start)) * 1000 / calls;
  };
  timed(20);
  const int calls_per_round = std::clamp(static_cast<int>(kRoundUs / timed(20)), 20, 2000);
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    std::this_thread::sleep_for(pause());
    times.push_back(timed(calls_per_round));
  }
  return spread_of(std::move(times));
}

double host_ns(const Body& body) {
  constexpr int kCalls = 300;
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    cuda::synchronize();
    const int64_t start_ns = now_ns();
    for (int i = 0; i < kCalls; ++i) body();
    times.push_back(static_cast<double>(now_ns() - start_ns) / kCalls);
  }
  return spread_of(std::move(times)).median;
}

void print(const char* name, const Spread& spread, const char* after) {
  fmt::print("\"{0}\": {1:.3f}, \"{0}_min\": {2:.3f}, \"{0}_max\": {3:.3f}{4}", name, spread.median,
             spread.min, spread.max, after);
}

}  // namespace epi::bench
