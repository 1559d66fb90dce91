// SPDX-License-Identifier: Apache-2.0
// Delays that were planted in a block, and steps before and after advice was followed, recorded on
// an H200 by tests/data/what_if/record.py: the verdict and the estimates from the trace before,
// held against wall times without a profiler.
#include "epilogue/analysis/advise/what_if.h"

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
#include "tests/analysis/test_data.h"

namespace epi::analysis {
namespace {

Diagnosis planted(const char* name) {
  const trace::Trace trace = read_data(std::string("what_if/") + name + ".json.gz");
  const TraceIndex index(trace);
  return diagnose(index, step_subject(index)).value();
}

TEST(PlantedDelays, MoveTheVerdictWhereTheyLieOnThePath) {
  EXPECT_EQ(planted("block").limiter, Limiter::kGpu);
  EXPECT_EQ(planted("host_sleep").limiter, Limiter::kHost);
  EXPECT_EQ(planted("slow_kernel").limiter, Limiter::kGpu);
  EXPECT_EQ(planted("loader").limiter, Limiter::kInput);
  EXPECT_EQ(planted("sync_each").limiter, Limiter::kHost);
}

TEST(PlantedDelays, DoNotWhereTheyLieBesideIt) {
  // A sleep of 1 ms behind 16 ms of queued work, a slow kernel on a stream that nothing waits for.
  EXPECT_EQ(planted("hidden_sleep").limiter, Limiter::kGpu);
  EXPECT_LT(planted("hidden_sleep").share(Bound::kDispatch), 0.01);
  const Diagnosis beside = planted("slow_kernel_beside");
  EXPECT_GT(beside.share(Bound::kArithmetic), 0.9);
  EXPECT_LT(beside.share(Bound::kMemory), 0.01);  // where a kernel of no known kind counts
}

// The products wait for another stream's slow kernel: it is on the path, and no launch is blamed.
TEST(PlantedDelays, AnotherStreamIsOnThePathOfWhatWaitsForIt) {
  const Diagnosis waits = planted("wait_for_stream");
  EXPECT_GT(waits.share(Bound::kMemory), 0.8);
  EXPECT_LT(waits.share(Bound::kLaunches) + waits.share(Bound::kNotInFile), 0.05);
}

TEST(PlantedDelays, TimedAgainWithoutThemAStepIsAsShortAsItWas) {
  const trace::Trace trace = read_data("what_if/slow_kernel.json.gz");
  const TraceIndex index(trace);
  const StepGraphs graphs(index);
  const Subject steps = step_subject(index);
  for (size_t i = 0; i < steps.owned.size(); ++i) {
    const StepGraph graph = graphs.graph(graphs.window(steps.group.instances[i], steps.owned[i]));
    NewDurations without;
    int64_t slow_ns = 0;
    for (const trace::EventId id : steps.owned[i].work) {
      if (trace.name_of(id).find("spin_kernel") == std::string_view::npos) continue;
      without[id] = 1;
      slow_ns += trace.dur_ns[id];
    }
    ASSERT_EQ(without.size(), 1U);
    const int64_t saved = graph.window_ns() - graph.retimed(without);
    EXPECT_GT(saved, 0);
    EXPECT_LE(saved, slow_ns);  // never more than it removes
  }
}

struct WallTime {
  double median = 0;
  double least = 0;
  double most = 0;
};

// "name": [median, least, most] of times.json, in nanoseconds.
std::map<std::string, WallTime> wall_times() {
  std::ifstream file(std::string(EPI_TEST_DATA) + "/what_if/times.json");
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
    numbers >> time.median >> comma >> time.least >> comma >> time.most;
    times[all.substr(begin, at - begin)] = {1000 * time.median, 1000 * time.least,
                                            1000 * time.most};
    ++at;
  }
  return times;
}

struct WhatIfPair {
  AdviceKind kind{};
  Estimate saving;
  double actual = 0;
  double spread = 0;  // of both recordings
  double step = 0;

  // Within a quarter, or within the spread of the recordings, or within 2 % of the step.
  bool is_hit(double estimate) const {
    const double off = std::abs(estimate - actual);
    return off <= 0.25 * std::abs(actual) || off <= spread || off <= 0.02 * step;
  }
  bool is_inside() const { return saving.low <= actual && actual <= saving.high; }
};

std::vector<WhatIfPair> pairs() {
  const std::pair<std::string, AdviceKind> kinds[] = {
      {"addmm_", AdviceKind::kAddmm},         {"sync_", AdviceKind::kSync},
      {"pageable_", AdviceKind::kPageable},   {"graph_", AdviceKind::kGraph},
      {"attention_", AdviceKind::kAttention}, {"copies_", AdviceKind::kCopies},
      {"loader_", AdviceKind::kInput}};
  const auto times = wall_times();
  std::vector<WhatIfPair> result;
  for (const auto& [name, before] : times) {
    const auto after = times.find(name + ".after");
    if (after == times.end()) continue;
    const auto* kind = std::find_if(std::begin(kinds), std::end(kinds),
                                    [&](const auto& one) { return name.starts_with(one.first); });
    const trace::Trace trace = read_data("what_if/" + name + ".json.gz");
    const Advised advised = advise(TraceIndex(trace), {});
    const auto found =
        std::find_if(advised.advice.begin(), advised.advice.end(),
                     [&](const Advice& advice) { return advice.kind == kind->second; });
    EXPECT_NE(found, advised.advice.end()) << name;
    if (found == advised.advice.end()) continue;
    const WallTime& then = after->second;
    result.push_back({kind->second, found->saving_ns, before.median - then.median,
                      before.most - before.least + then.most - then.least, before.median});
  }
  return result;
}

TEST(WhatIfPairs, AreEstimated) {
  const std::vector<WhatIfPair> all = pairs();
  ASSERT_EQ(all.size(), 35U);
  const auto hits = std::count_if(all.begin(), all.end(), [](const WhatIfPair& pair) {
    return pair.is_hit(pair.saving.likely);
  });
  const auto inside = std::count_if(all.begin(), all.end(),
                                    [](const WhatIfPair& pair) { return pair.is_inside(); });
  EXPECT_GE(hits, 28);    // 80 %
  EXPECT_GE(inside, 28);  // 80 %
  std::vector<double> widths;
  for (const WhatIfPair& pair : all) {
    EXPECT_GT(pair.saving.high, pair.saving.low);
    widths.push_back((pair.saving.high - pair.saving.low) / pair.saving.likely);
  }
  EXPECT_LE(median(widths), 1);
}

// Each kind's factor is the middle one of its pairs: without the pair that is estimated, it still
// holds for four of five.
TEST(WhatIfPairs, HoldWhereTheEstimateDoesNotKnowThem) {
  const std::vector<WhatIfPair> all = pairs();
  size_t hits = 0;
  size_t count = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<double> factors;
    for (size_t j = 0; j < all.size(); ++j) {
      if (j != i && all[j].kind == all[i].kind) {
        factors.push_back(all[j].actual / all[j].saving.likely);
      }
    }
    ++count;
    if (all[i].is_hit(median(factors) * all[i].saving.likely)) ++hits;
  }
  EXPECT_GE(5 * hits, 4 * count) << hits << " of " << count;
}

// "Likely" is for kinds that four of five pairs confirm, and that never had the wrong sign.
TEST(WhatIfPairs, LikelyIsMeant) {
  for (const AdviceKind kind : {AdviceKind::kAddmm, AdviceKind::kGraph, AdviceKind::kInput}) {
    int hits = 0;
    int inside = 0;
    int count = 0;
    for (const WhatIfPair& pair : pairs()) {
      if (pair.kind != kind) continue;
      ++count;
      hits += pair.is_hit(pair.saving.likely) ? 1 : 0;
      inside += pair.is_inside() ? 1 : 0;
      EXPECT_GE(pair.actual, -pair.spread);
    }
    EXPECT_EQ(count, 5);
    EXPECT_GE(hits, 4);
    EXPECT_GE(inside, 4);
  }
}

}  // namespace
}  // namespace epi::analysis
