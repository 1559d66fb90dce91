// SPDX-License-Identifier: Apache-2.0
// Generated jobs of many ranks with planted delays, clocks and gaps: what the analysis finds.
#include <gtest/gtest.h>

#include <cmath>

#include "epilogue/analysis/ranks/ranks.h"
#include "epilogue/trace/reader.h"
#include "tests/analysis/modeled_trace.h"
#include "tests/trace/rank_job.h"

namespace epi::analysis {
namespace {

using trace::LateBy;
using trace::RankJob;

constexpr int kJobs = 100;
constexpr double kSigmaNs = 20'000;

Ranks analyze(const RankJob& job, size_t missing = 0) {
  std::vector<RankData> ranks;
  const auto texts = make_rank_job(job);
  for (size_t i = 0; i < texts.size() - missing; ++i) {
    auto trace = trace::read_bytes(texts[i], "rank.json");
    EXPECT_TRUE(trace) << trace.error().message;
    const ModeledTrace made(std::move(*trace));
    ranks.push_back(rank_data(made.models));
    ranks.back().rank = static_cast<int64_t>(i);
    ranks.back().has_rank = true;
  }
  return analyze_ranks(std::move(ranks));
}

struct Planted {
  LateBy by;
  Between cause;
  const char* name;
};
constexpr Planted kPlanted[] = {
    {LateBy::kKernel, Between::kCompute, "backward_kernel"},
    {LateBy::kCopy, Between::kCopies, "Memcpy HtoD (Pinned -> Device)"},
    {LateBy::kLoading, Between::kDataLoading,
     "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"},
    {LateBy::kSynchronizing, Between::kSynchronizing, "cudaDeviceSynchronize"},
    {LateBy::kHost, Between::kHost, "aten::index"},
};

// Of 100 jobs, the share in which the planted rank and cause are named.
void expect_named(size_t ranks, int jobs) {
  int rank_named = 0, cause_named = 0;
  for (int i = 0; i < jobs; ++i) {
    const Planted& planted = kPlanted[static_cast<size_t>(i) % std::size(kPlanted)];
    RankJob job;
    job.ranks = ranks;
    job.kernels = 2;
    job.seed = static_cast<uint64_t>(i);
    const size_t late = static_cast<size_t>(i) % ranks;
    job.late = {{late, 3 * kSigmaNs, planted.by, 1}};
    const Ranks found = analyze(job);
    if (found.arrivals.stragglers.size() != 1 || found.arrivals.stragglers[0].rank != late)
      continue;
    ++rank_named;
    cause_named += found.arrivals.stragglers[0].cause == planted.cause &&
                   found.arrivals.stragglers[0].name == planted.name;
  }
  EXPECT_GE(rank_named, jobs * 95 / 100) << ranks;
  EXPECT_GE(cause_named, jobs * 95 / 100) << ranks;
}

TEST(RankJob, NamesTheLateRankAndItsCause) {
  expect_named(2, kJobs);
  expect_named(8, kJobs);
}

TEST(RankJob, NamesTheLateOneOf64Ranks) { expect_named(64, kJobs); }

TEST(RankJob, NamesNobodyWithoutADelay) {
  for (const size_t ranks : {2, 8, 64}) {
    int named = 0;
    for (uint64_t seed = 0; seed < kJobs; ++seed) {
      RankJob job;
      job.ranks = ranks;
      job.kernels = 2;
      job.seed = seed;
      named += !analyze(job).arrivals.stragglers.empty();
    }
    EXPECT_LE(named, 2) << ranks;
  }
}

TEST(RankJob, NamesTwoRanksAndThoseThatAreSometimesLate) {
  RankJob job;
  job.steps = 20;
  job.late = {{3, 5 * kSigmaNs, LateBy::kLoading, 1}, {5, 5 * kSigmaNs, LateBy::kKernel, 1}};
  const Ranks two = analyze(job);
  ASSERT_EQ(two.arrivals.stragglers.size(), 2U);
  EXPECT_EQ(two.arrivals.stragglers[0].rank + two.arrivals.stragglers[1].rank, 8U);
  for (const Straggler& one : two.arrivals.stragglers) {
    EXPECT_EQ(one.cause, one.rank == 3 ? Between::kDataLoading : Between::kCompute);
  }
  job.late = {{6, 10 * kSigmaNs, LateBy::kHost, 0.4}};
  const Ranks sometimes = analyze(job);
  ASSERT_EQ(sometimes.arrivals.stragglers.size(), 1U);
  EXPECT_EQ(sometimes.arrivals.stragglers[0].rank, 6U);
  EXPECT_EQ(sometimes.arrivals.stragglers[0].cause, Between::kHost);
}

// All ranks wait equally long.
TEST(RankJob, BlamesNobodyForASlowLink) {
  RankJob job;
  job.slow_link = 5;
  const Ranks found = analyze(job);
  EXPECT_EQ(found.arrivals.reason, NoStraggler::kChance);
  ASSERT_EQ(found.kinds.size(), 1U);
  EXPECT_NEAR(found.kinds[0].algorithm_rate.value(), 100.0 / 5, 0.01 * 20);
}

TEST(RankJob, BandwidthIsWithinOnePercent) {
  const Ranks found = analyze({});
  ASSERT_EQ(found.kinds.size(), 1U);
  EXPECT_EQ(found.kinds[0].kind, "all_reduce");
  EXPECT_EQ(found.kinds[0].count, 20);
  EXPECT_NEAR(found.kinds[0].algorithm_rate.value(), 100, 1);
  EXPECT_NEAR(found.kinds[0].bus_rate.value(), 100 * 2 * 7 / 8.0, 1.75);
}

// The interval must contain the planted offset, and be narrow against the jitter of arrivals.
TEST(RankJob, ClockOffsetsLieInTheirIntervals) {
  int covered = 0, all = 0;
  for (uint64_t seed = 0; seed < kJobs; ++seed) {
    RankJob job;
    job.ranks = 4;
    job.kernels = 2;
    job.seed = seed;
    job.files = {{}, {.clock_offset_ns = 312'345}, {.clock_offset_ns = -87'654'321}, {}};
    const Ranks found = analyze(job);
    for (size_t rank = 1; rank < 4; ++rank) {
      ASSERT_TRUE(found.clocks[rank]);
      const ClockOffset& clock = *found.clocks[rank];
      const double planted = job.files[rank].clock_offset_ns;
      ++all;
      covered += clock.low_ns <= planted && planted <= clock.high_ns;
      EXPECT_LE(clock.high_ns - clock.low_ns,
                3 * kSigmaNs / std::sqrt(static_cast<double>(clock.collectives)));
      EXPECT_EQ(clock.collectives, 20);
    }
  }
  EXPECT_GE(covered, all * 93 / 100);
}

TEST(RankJob, FindsTheDriftOfAClock) {
  // A second, with a thousand ends that differ by a microsecond: the slope's standard error is
  // 1e-7.
  RankJob job;
  job.ranks = 2;
  job.steps = 500;
  job.files = {{}, {.clock_offset_ns = 1000, .clock_drift = 20e-6}};
  const Ranks found = analyze(job);
  ASSERT_TRUE(found.clocks[1]);
  EXPECT_NEAR(found.clocks[1]->drift, 20e-6, 3e-7);
  job.files[1].clock_drift = 0;
  EXPECT_NEAR(analyze(job).clocks[1]->drift, 0, 3e-7);
}

// Files that begin and end at different times, lack events, and have other clocks.
TEST(RankJob, AlignsFilesWithGaps) {
  RankJob job;
  job.steps = 30;
  job.late = {{2, 5 * kSigmaNs, LateBy::kKernel, 1}};
  job.files.resize(8);
  job.files[1] = {.clock_offset_ns = 700'000, .first_step = 3};
  job.files[4] = {.clock_offset_ns = -1'200'000, .steps_cut = 4};
  job.files[5] = {.first_step = 2, .steps_cut = 2, .lost_share = 0.1};
  job.files[6] = {.clock_offset_ns = 5e9, .first_step = 1};  // a clock that is seconds off
  const Ranks found = analyze(job);
  ASSERT_TRUE(found.groups[0].is_matched);
  EXPECT_GE(found.arrivals.compared, 35);  // of 23 common steps, of which a tenth is lost
  EXPECT_GT(found.arrivals.not_compared, 0);
  ASSERT_EQ(found.arrivals.stragglers.size(), 1U);
  EXPECT_EQ(found.arrivals.stragglers[0].rank, 2U);
  for (const size_t rank : {size_t{1}, size_t{4}, size_t{6}}) {
    ASSERT_TRUE(found.clocks[rank]);
    EXPECT_NEAR(found.clocks[rank]->offset_ns, job.files[rank].clock_offset_ns, 2000) << rank;
  }
}

// Steps of the same length: only their numbers tell that the files begin at different ones.
TEST(RankJob, AlignsFilesOfTheSameLengthByTheirSteps) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RankJob job;
    job.ranks = 2;
    job.steps = 20;
    job.seed = seed;
    job.files = {{.steps_cut = 3}, {.first_step = 3}};
    const Ranks found = analyze(job);
    EXPECT_EQ(found.arrivals.compared, 28);
    ASSERT_TRUE(found.clocks[1]);
    EXPECT_NEAR(found.clocks[1]->offset_ns, 0, 2000);
    job.files = {{.steps_cut = 10}, {.first_step = 10}};
    EXPECT_EQ(analyze(job).arrivals.reason, NoStraggler::kDifferent);
  }
}

// Collectives of files that are complete are the same in order, whatever the clocks do.
TEST(RankJob, KeepsTheOrderIfAClockIsSet) {
  RankJob job;
  job.ranks = 2;
  job.steps = 20;
  std::vector<RankData> ranks = analyze(job).ranks;
  for (size_t i = 20; i < 40; ++i) {
    ranks[1].collectives[i].when.begin += 300'000;
    ranks[1].collectives[i].when.end += 300'000;
  }
  const Ranks found = analyze_ranks(ranks);
  EXPECT_EQ(found.arrivals.compared, 40);
  EXPECT_EQ(found.arrivals.not_compared, 0);
}

// A delay that is small against the jitter is found by many collectives. Its cause is not the
// jitter.
TEST(RankJob, FindsTheCauseOfASmallDelay) {
  RankJob job;
  job.ranks = 4;
  job.steps = 200;
  job.kernels = 2;
  job.late = {{1, kSigmaNs / 2, LateBy::kCopy, 1}};
  int right = 0, wrong = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    job.seed = seed;
    const Ranks found = analyze(job);
    for (const Straggler& one : found.arrivals.stragglers) {
      if (one.rank != 1 || !one.cause) continue;
      ++(*one.cause == Between::kCopies ? right : wrong);
    }
  }
  EXPECT_GE(right, 15);
  EXPECT_LE(wrong, 1);
}

// A rank that is rarely late, but by much, is not called a straggler.
TEST(RankJob, SumsUpTheWaitsForARankThatIsRarelyLate) {
  RankJob job;
  job.steps = 40;
  job.late = {{3, 2'000'000, LateBy::kLoading, 0.05}};
  const Ranks found = analyze(job);
  double all = 0;
  for (const double wait : found.arrivals.wait_ns) all += wait;
  EXPECT_GT(found.arrivals.wait_ns[3], 0.5 * all);
}

TEST(RankJob, FindsNoDriftOrOffsetInGoodClocks) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    RankJob job;
    job.ranks = 64;
    job.kernels = 1;
    job.seed = seed;
    for (const auto& clock : analyze(job).clocks) {
      ASSERT_TRUE(clock);
      EXPECT_EQ(clock->drift, 0);
      EXPECT_LT(std::abs(clock->offset_ns), 2000);
    }
  }
}

TEST(RankJob, NamesNobodyIfRanksAreMissing) {
  RankJob job;
  job.late = {{2, 5 * kSigmaNs, LateBy::kKernel, 1}};
  const Ranks found = analyze(job, 1);
  EXPECT_EQ(found.world_size, 8);
  EXPECT_EQ(found.arrivals.reason, NoStraggler::kRanksMissing);
  EXPECT_TRUE(found.arrivals.stragglers.empty());
}

// Older files say nothing about groups and sizes.
TEST(RankJob, AssumesTheWorldWithoutGroups) {
  RankJob job;
  job.records_groups = false;
  job.late = {{2, 5 * kSigmaNs, LateBy::kKernel, 1}};
  const Ranks found = analyze(job);
  ASSERT_EQ(found.groups.size(), 1U);
  EXPECT_EQ(found.groups[0].group.name, "");
  ASSERT_EQ(found.arrivals.stragglers.size(), 1U);
  EXPECT_EQ(found.arrivals.stragglers[0].rank, 2U);
  EXPECT_EQ(found.kinds[0].bytes, std::nullopt);
}

}  // namespace
}  // namespace epi::analysis
