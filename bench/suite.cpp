// SPDX-License-Identifier: Apache-2.0
#include "bench/suite.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/suite_report.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/openblas.h"
#include "epilogue/ops/hooks.h"

namespace epi::bench {
namespace {

// OpenBLAS 0.3.21 spins for 2^26 cycles after a call, about 30 ms, before its threads sleep.
constexpr auto kOpenBlasSpin = std::chrono::milliseconds(60);

// The time of one call in this turn.
double take_turn(const Side& side, const Contest& contest) {
  if (side.before) side.before();
  if (contest.warm_up) side.body();
  const int64_t start_ns = now_ns();
  for (int i = 0; i < contest.calls; ++i) side.body();
  const int64_t end_ns = now_ns();
  if (side.after) side.after();
  return static_cast<double>(end_ns - start_ns) / contest.calls;
}

void take_turns(benchmark::State& state, Contest& contest) {
  for ([[maybe_unused]] auto _ : state) {
    // The sides alternate in who goes first.
    const bool ours_first = contest.ours_ns.size() % 2 == 0;
    if (ours_first) contest.ours_ns.push_back(take_turn(contest.ours, contest));
    if (contest.rival.body) contest.rival_ns.push_back(take_turn(contest.rival, contest));
    if (!ours_first) contest.ours_ns.push_back(take_turn(contest.ours, contest));
    state.SetIterationTime(contest.ours_ns.back() * 1e-9);
  }
}

// Google Benchmark's report has no notion of two sides.
class SilentReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

}  // namespace

void Suite::add(const std::string& name, Contest contest) {
  const int turns = contest.turns;
  contests_.push_back(std::make_unique<Contest>(std::move(contest)));
  Contest* added = contests_.back().get();
  benchmark::RegisterBenchmark(name.c_str(),
                               [added](benchmark::State& state) { take_turns(state, *added); })
      ->UseManualTime()
      ->Iterations(turns);
}

void Suite::add(const std::string& name, Measurement measurement) {
  measurements_.push_back(std::make_unique<Measurement>(std::move(measurement)));
  Measurement* added = measurements_.back().get();
  benchmark::RegisterBenchmark(name.c_str(), [added](benchmark::State& state) {
    for ([[maybe_unused]] auto _ : state) {
      added->value = added->measure();
    }
  })->Iterations(1);
}

int Suite::run(bool json) {
  SilentReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  std::vector<Verdict> verdicts;
  for (const auto& contest : contests_) {
    if (!contest->ours_ns.empty()) verdicts.push_back(judge(*contest));
  }
  for (const auto& measurement : measurements_) {
    if (measurement->value) verdicts.push_back(judge(*measurement));
  }
  if (verdicts.empty()) return -1;
  (json ? print_json : print_text)(verdicts);
  return static_cast<int>(
      std::count_if(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return !v.holds; }));
}

Side openblas_side(std::string name, std::function<void()> body) {
  return {std::move(name), std::move(body), [] { cpu::openblas().set_num_threads(num_threads()); },
          [] {
            cpu::openblas().set_num_threads(1);
            std::this_thread::sleep_for(kOpenBlasSpin);
          }};
}

}  // namespace epi::bench
