// SPDX-License-Identifier: Apache-2.0
// What could make communication shorter, in lists that are small enough to check by hand.
#include "epilogue/analysis/ranks/communication.h"

#include <gtest/gtest.h>

#include "tests/analysis/rank_lists.h"

namespace epi::analysis {
namespace {

// Two ranks with two steps of 10 ms, of which 2 ms are compute, and none of it is overlapped.
std::vector<RankData> make_job() {
  std::vector<RankData> ranks = make_ranks(2);
  for (RankData& rank : ranks) {
    for (int64_t i = 0; i < 2; ++i) {
      RankStep step;
      step.when = {10'000'000 * i, 10'000'000 * (i + 1)};
      step.shares.window_ns = 10'000'000;
      step.shares.compute_ns = 2'000'000;
      rank.steps.push_back(step);
    }
  }
  return ranks;
}

std::vector<CommunicationAdvice> advice_of(const std::vector<RankData>& ranks) {
  return communication_advice(analyze_ranks(ranks));
}

TEST(CommunicationAdvice, OverlapHidesAtMostTheExposedTimeAndTheCompute) {
  std::vector<RankData> ranks = make_job();
  for (int i = 0; i < 12; ++i) add_collective(ranks, {.durations = {100'000, 100'000}});
  for (RankData& rank : ranks) {
    for (RankCollective& one : rank.collectives) one.exposed_ns = 50'000;
  }
  auto advice = advice_of(ranks);
  ASSERT_EQ(advice.size(), 1U);
  EXPECT_EQ(advice[0].remedy, CommunicationRemedy::kOverlap);
  EXPECT_EQ(advice[0].kind, "all_reduce");
  EXPECT_EQ(advice[0].at_most_ns, 6 * 50'000);
  for (RankData& rank : ranks) {
    for (RankCollective& one : rank.collectives) one.exposed_ns = 900'000;
  }
  EXPECT_EQ(advice_of(ranks)[0].at_most_ns, 2'000'000);  // all of the compute
  // Less than 1 % of a step.
  for (RankData& rank : ranks) {
    for (RankCollective& one : rank.collectives) one.exposed_ns = 16'000;
  }
  EXPECT_TRUE(advice_of(ranks).empty());
}

TEST(CommunicationAdvice, BucketsSaveTheFixedTime) {
  std::vector<RankData> ranks = make_job();
  // 40 us and 1 us per kB.
  for (int64_t i = 0; i < 12; ++i) {
    const int64_t kilobytes = 10 + 5 * (i % 4);
    const int64_t ns = 40'000 + 1000 * kilobytes;
    add_collective(ranks, {.durations = {ns, ns}, .bytes = {1000 * kilobytes}});
  }
  const auto advice = advice_of(ranks);
  ASSERT_EQ(advice.size(), 1U);
  EXPECT_EQ(advice[0].remedy, CommunicationRemedy::kBucket);
  EXPECT_NEAR(advice[0].at_most_ns, 5 * 40'000, 1);
}

TEST(CommunicationAdvice, SlowCollectivesCouldBeAsFastAsOthers) {
  std::vector<RankData> ranks = make_job();
  for (int i = 0; i < 20; ++i) {
    const int64_t ns = i < 16 ? 100'000 : 300'000;
    add_collective(ranks, {.durations = {ns, ns}, .bytes = {1'000'000}});
  }
  const auto advice = advice_of(ranks);
  ASSERT_EQ(advice.size(), 1U);
  EXPECT_EQ(advice[0].remedy, CommunicationRemedy::kBandwidth);
  EXPECT_EQ(advice[0].at_most_ns, 2 * 200'000);
}

TEST(CommunicationAdvice, StragglersCouldArriveWithTheOthers) {
  std::vector<RankData> ranks = make_job();
  for (int i = 0; i < 20; ++i) add_collective(ranks, {.durations = {150'000, 100'000}});
  const auto advice = advice_of(ranks);
  ASSERT_EQ(advice.size(), 1U);
  EXPECT_EQ(advice[0].remedy, CommunicationRemedy::kArriveTogether);
  EXPECT_EQ(advice[0].rank, 1U);
  EXPECT_EQ(advice[0].at_most_ns, 10 * 50'000);
}

}  // namespace
}  // namespace epi::analysis
