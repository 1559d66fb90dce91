// SPDX-License-Identifier: Apache-2.0
// Compares diagnoses and estimated savings with wall times measured without a profiler. The traces
// have delays injected into a block, or were recorded before advice was followed. They were
// recorded on an H200 by tests/data/what_if/record.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/index/statistics.h"
#include "epilogue/trace/event_args.h"
#include "tests/analysis/diagnosed_trace.h"
#include "tests/analysis/step_graph_of.h"

namespace epi::analysis {
namespace {

DiagnosedTrace recording(const std::string& name) {
  return DiagnosedTrace("what_if/" + name + ".json.gz");
}

TEST(InjectedDelays, OnTheCriticalPathChangeTheLimiter) {
  // The trace shows that the thread has no event for most of the step, but not that it sleeps.
  EXPECT_EQ(recording("host_sleep")->limiter, Limiter::kNotConclusive);
  constexpr int64_t kSleepNs = 4'000'000;
  EXPECT_GT(recording("host_sleep")->ns(Limiter::kHostWork), kSleepNs - kSleepNs / 10);
  EXPECT_EQ(recording("slow_kernel")->limiter, Limiter::kGpu);
  EXPECT_EQ(recording("loader")->limiter, Limiter::kInput);
  EXPECT_EQ(recording("sync_each")->limiter, Limiter::kHost);
}

TEST(InjectedDelays, OffTheCriticalPathDoNotChangeTheLimiter) {
  // A sleep of 1 ms while 16 ms of work is queued, and a slow kernel on a stream that nothing waits
  // for.
  EXPECT_EQ(recording("hidden_sleep")->limiter, Limiter::kGpu);
  EXPECT_LT(recording("hidden_sleep")->share(Bound::kDispatch), 0.01);
  const DiagnosedTrace beside = recording("slow_kernel_beside");
  EXPECT_GT(beside->share(Bound::kCompute), 0.9);
  EXPECT_LT(beside->share(Bound::kUnclassified), 0.01);  // the kernel that spins
}

// The GEMMs wait for a slow kernel on another stream. That kernel is on the path, and launches are
// not.
TEST(InjectedDelays, PathFollowsWaitsForOtherStreams) {
  const DiagnosedTrace waits = recording("wait_for_stream");
  EXPECT_GT(waits->share(Bound::kUnclassified), 0.8);
  EXPECT_LT(waits->share(Bound::kLaunches) + waits->share(Bound::kNotInTrace), 0.05);
}

TEST(InjectedDelays, RemovingSlowKernelShortensTheStep) {
  const ModeledTrace made("what_if/slow_kernel.json.gz");
  for (const StepModel& step : made.models.steps().steps) {
    const StepGraph graph = graph_of(made, step);
    StepChange without;
    int64_t slow_ns = 0;
    for (const trace::EventId id : step.owned.work) {
      if (made.trace.name_of(id).find("spin_kernel") == std::string_view::npos) continue;
      without.durations[id] = 1;
      slow_ns += made.trace.dur_ns[id];
    }
    ASSERT_EQ(without.durations.size(), 1U);
    const int64_t saved = graph.window_ns() - graph.retimed(without).window_ns;
    EXPECT_GT(saved, 0);
    EXPECT_LE(saved, slow_ns);  // never more than the removed kernel
  }
}

struct WallTime {
  double median = 0;
  double min = 0;
  double max = 0;
};

// Parses `"name": [median, minimum, maximum]` entries of times.json into nanoseconds.
std::map<std::string, WallTime> wall_times(const std::string& folder) {
  std::ifstream file(std::string(EPI_TEST_DATA) + "/" + folder + "/times.json");
  std::stringstream text;
  text << file.rdbuf();
  std::map<std::string, WallTime> times;
  const std::string all = text.str();
  size_t at = all.find("wall_us");
  while ((at = all.find("\": [", at)) != std::string::npos) {
    const size_t begin = all.rfind('"', at - 1) + 1;
    std::istringstream numbers(all.substr(at + 4, all.find(']', at) - at - 4));
    WallTime time;
    char comma = 0;
    numbers >> time.median >> comma >> time.min >> comma >> time.max;
    times[all.substr(begin, at - begin)] = {1000 * time.median, 1000 * time.min, 1000 * time.max};
    ++at;
  }
  return times;
}

struct WhatIfPair {
  std::string kind;  // prefix of the recording's name, such as "graph"
  Estimate saving;
  Confidence confidence{};
  double actual = 0;
  double spread = 0;  // of both recordings
  double step = 0;

  // Within 25 % of the measured saving, the spread of the recordings, or 2 % of the step.
  bool is_hit(double estimate) const {
    const double off = std::abs(estimate - actual);
    return off <= 0.25 * std::abs(actual) || off <= spread || off <= 0.02 * step;
  }
  bool is_hit() const { return is_hit(saving.likely); }
  bool is_in_range() const { return saving.low <= actual && actual <= saving.high; }
};

WhatIfPair pair_of(const std::string& folder, const std::string& name, const WallTime& before,
                   const WallTime& after) {
  const std::map<std::string, AdviceKind> kinds = {
      {"addmm", AdviceKind::kAddmm},   {"bias", AdviceKind::kAddmm},
      {"sync", AdviceKind::kSync},     {"pageable", AdviceKind::kPageable},
      {"graph", AdviceKind::kGraph},   {"attention", AdviceKind::kAttention},
      {"copies", AdviceKind::kCopies}, {"loader", AdviceKind::kInput},
      {"batch", AdviceKind::kBatch},   {"glu", AdviceKind::kGatedMlp},
      {"fuse", AdviceKind::kFuse}};
  WhatIfPair pair;
  pair.kind = name.substr(0, name.find('_'));
  // After batching, a step has twice the rows.
  pair.actual = before.median - after.median / (pair.kind == "batch" ? 2 : 1);
  pair.spread = before.max - before.min + after.max - after.min;
  pair.step = before.median;
  const ModeledTrace made(folder + "/" + name + ".json.gz");
  const AdviceReport report = advise(made.models, {});
  if (pair.kind == "fuse") {  // everything that a compiler would fuse
    pair.saving = report.fusion.saving_ns;
    pair.confidence = Confidence::kLikely;
    return pair;
  }
  const auto found =
      std::find_if(report.advice.begin(), report.advice.end(),
                   [&](const Advice& advice) { return advice.kind == kinds.at(pair.kind); });
  if (found == report.advice.end()) {
    ADD_FAILURE() << name << ": no such advice";
    return pair;
  }
  pair.saving = found->saving_ns;
  pair.confidence = found->confidence;
  return pair;
}

std::vector<WhatIfPair> pairs(const std::string& folder) {
  const auto times = wall_times(folder);
  std::vector<WhatIfPair> result;
  for (const auto& [name, before] : times) {
    const auto after = times.find(name + ".after");
    if (after != times.end()) result.push_back(pair_of(folder, name, before, after->second));
  }
  return result;
}

void expect_four_of_five(const std::vector<WhatIfPair>& all) {
  ASSERT_EQ(all.size(), 55U);
  const auto hits =
      std::count_if(all.begin(), all.end(), [](const WhatIfPair& pair) { return pair.is_hit(); });
  const auto inside = std::count_if(all.begin(), all.end(),
                                    [](const WhatIfPair& pair) { return pair.is_in_range(); });
  EXPECT_GE(hits, 44);    // 80 %
  EXPECT_GE(inside, 44);  // 80 %
  std::vector<double> widths;
  for (const WhatIfPair& pair : all) {
    EXPECT_GT(pair.saving.high, pair.saving.low) << pair.kind;
    widths.push_back((pair.saving.high - pair.saving.low) / pair.saving.likely);
  }
  EXPECT_LE(median(widths), 1);
}

// The constants were chosen using these pairs.
TEST(WhatIfPairs, AreEstimatedForFittedSizes) { expect_four_of_five(pairs("what_if")); }

// Other sizes, recorded after the constants were chosen.
TEST(WhatIfPairs, AreEstimatedForHeldOutSizes) { expect_four_of_five(pairs("what_if/held_out")); }

// Leave-one-out: the factor of each kind is the median over its other pairs. It still estimates
// four of five pairs.
TEST(WhatIfPairs, AreEstimatedLeavingOneOut) {
  const std::vector<WhatIfPair> all = pairs("what_if");
  size_t hits = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<double> factors;
    for (size_t j = 0; j < all.size(); ++j) {
      if (j != i && all[j].kind == all[i].kind) {
        factors.push_back(all[j].actual / all[j].saving.likely);
      }
    }
    if (all[i].is_hit(median(factors) * all[i].saving.likely)) ++hits;
  }
  EXPECT_GE(5 * hits, 4 * all.size()) << hits << " of " << all.size();
}

// Confidence "likely" is reserved for kinds that four of five pairs confirm, without a wrong sign.
TEST(WhatIfPairs, LikelyAdviceIsConfirmed) {
  std::vector<WhatIfPair> all = pairs("what_if");
  const std::vector<WhatIfPair> held_out = pairs("what_if/held_out");
  all.insert(all.end(), held_out.begin(), held_out.end());
  struct Count {
    int all = 0;
    int hits = 0;
    int inside = 0;
  };
  std::map<std::string, Count> kinds;
  for (const WhatIfPair& pair : all) {
    if (pair.confidence != Confidence::kLikely) continue;
    EXPECT_GE(pair.actual, -pair.spread) << pair.kind;
    Count& count = kinds[pair.kind];
    ++count.all;
    count.hits += pair.is_hit() ? 1 : 0;
    count.inside += pair.is_in_range() ? 1 : 0;
  }
  EXPECT_GE(kinds.size(), 4U);
  for (const auto& [kind, count] : kinds) {
    EXPECT_GE(5 * count.hits, 4 * count.all) << kind;
    EXPECT_GE(5 * count.inside, 4 * count.all) << kind;
  }
}

}  // namespace
}  // namespace epi::analysis
