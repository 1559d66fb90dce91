// SPDX-License-Identifier: Apache-2.0
// The rank that the others wait for, in lists of collectives that are small enough to check by
// hand.
#include "epilogue/analysis/ranks/arrivals.h"

#include <gtest/gtest.h>

#include "epilogue/analysis/ranks/collective_kinds.h"
#include "tests/analysis/rank_lists.h"

namespace epi::analysis {
namespace {

Arrivals arrivals_of(const std::vector<RankData>& ranks) {
  return arrivals(ranks, match_collectives(ranks), 0);
}

TEST(Arrivals, WaitIsThatOfTheMedianRank) {
  std::vector<RankData> ranks = make_ranks(3);
  for (int i = 0; i < 12; ++i) add_collective(ranks, {.durations = {130, 100, 150}});
  const Arrivals found = arrivals_of(ranks);
  ASSERT_EQ(found.stragglers.size(), 1U);
  EXPECT_EQ(found.reason, NoStraggler::kNamed);
  EXPECT_EQ(found.stragglers[0].rank, 1U);
  EXPECT_EQ(found.stragglers[0].last, 12);
  EXPECT_EQ(found.stragglers[0].of, 12);
  EXPECT_EQ(found.last, (std::vector<int64_t>{0, 12, 0}));
  EXPECT_EQ(found.stragglers[0].wait_ns, 12 * (30 + 50) / 2.0);
  EXPECT_EQ(found.stragglers[0].alone_ns, 12 * 30);
}

TEST(Arrivals, CauseIsWhatTheStragglerDoesLonger) {
  std::vector<RankData> ranks = make_ranks(3);
  for (int i = 0; i < 12; ++i) {
    add_collective(ranks, {.durations = {500, 100, 500}});
    for (RankData& rank : ranks) {
      rank.collectives.back().before[static_cast<size_t>(Between::kCompute)] = 1000;
    }
    ranks[1].collectives.back().before[static_cast<size_t>(Between::kHost)] = 390;
  }
  for (RankData& rank : ranks) rank.activities = {{Between::kHost, "aten::mm", 100}};
  ranks[1].activities.push_back({Between::kHost, "aten::index", 12 * 380});
  const Arrivals found = arrivals_of(ranks);
  ASSERT_EQ(found.stragglers.size(), 1U);
  EXPECT_EQ(found.stragglers[0].cause, Between::kHost);
  EXPECT_EQ(found.stragglers[0].cause_ns, 12 * 390);
  EXPECT_EQ(found.stragglers[0].name, "aten::index");
  // Half of the wait is not explained.
  for (RankCollective& one : ranks[1].collectives) {
    one.before[static_cast<size_t>(Between::kHost)] = 190;
  }
  EXPECT_EQ(arrivals_of(ranks).stragglers[0].cause, std::nullopt);
}

TEST(Arrivals, BandwidthIsThatOfTheTransfer) {
  // 1 MB over 4 ranks in 10 us after the last one arrived: 100 bytes per ns, of which each link
  // carries 2 * 3/4.
  std::vector<RankData> ranks = make_ranks(4);
  for (int i = 0; i < 2; ++i) {
    add_collective(
        ranks,
        {.group = "dp", .durations = {10'000, 11'000, 12'000, 13'000}, .bytes = {1'000'000}});
    add_collective(ranks, {.kind = "all_gather", .group = "dp", .durations = {100, 100, 100, 100}});
  }
  add_collective(ranks, {.kind = "all_to_all",
                         .group = "ep",
                         .durations = {5000, 5000, 5000, 5000},
                         .bytes = {0, 1000, 2000, 3000}});
  const auto kinds = collective_kinds(ranks, match_collectives(ranks));
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_EQ(kinds[0].kind, "all_reduce");
  EXPECT_EQ(kinds[0].count, 2);
  EXPECT_EQ(kinds[0].bytes, 1e6);
  EXPECT_EQ(kinds[0].transfer_ns, 10'000);
  EXPECT_EQ(kinds[0].wait_ns, 2000);  // the median of 11, 12 and 13 us
  EXPECT_EQ(kinds[0].skew_ns, 3000);
  EXPECT_DOUBLE_EQ(kinds[0].algorithm_rate.value(), 100);
  EXPECT_DOUBLE_EQ(kinds[0].bus_rate.value(), 150);
  EXPECT_EQ(kinds[1].kind, "all_to_all");
  EXPECT_EQ(kinds[1].bytes, 1500);
  EXPECT_DOUBLE_EQ(kinds[1].bus_rate.value(), 1500 * 0.75 / 5000);
  EXPECT_EQ(kinds[2].bytes, std::nullopt);
  EXPECT_EQ(kinds[2].bus_rate, std::nullopt);
}

// A broadcast's root may leave early, so nobody is last in it.
TEST(Arrivals, ShowBroadcastsWithoutComparingThem) {
  std::vector<RankData> ranks = make_ranks(2);
  for (int i = 0; i < 20; ++i) {
    add_collective(ranks, {.kind = "broadcast", .durations = {100, 900}, .bytes = {4096}});
  }
  EXPECT_EQ(arrivals_of(ranks).reason, NoStraggler::kNoCollectives);
  const auto kinds = collective_kinds(ranks, match_collectives(ranks));
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0].count, 20);
  EXPECT_EQ(kinds[0].time_ns, 500);
  EXPECT_EQ(kinds[0].bytes, 4096);
  EXPECT_EQ(kinds[0].wait_ns, std::nullopt);
}

// Two groups with one name: rank 3 is faster than the ranks of the other one, which do not wait for
// it.
TEST(Arrivals, DoNotCompareGroupsWithUnknownMembers) {
  std::vector<RankData> ranks = make_ranks(4);
  for (int i = 0; i < 20; ++i) {
    add_collective(ranks, {.group = "tp", .group_size = 2, .durations = {500, 500, 500, 100}});
  }
  const Arrivals found = arrivals_of(ranks);
  EXPECT_EQ(found.compared, 0);
  EXPECT_EQ(found.reason, NoStraggler::kUnknownGroups);
  EXPECT_TRUE(found.stragglers.empty());
  EXPECT_EQ(collective_kinds(ranks, match_collectives(ranks))[0].wait_ns, std::nullopt);
}

// The same with lists of their members.
TEST(Arrivals, CompareWithinGroups) {
  std::vector<RankData> ranks = make_ranks(4);
  for (int i = 0; i < 20; ++i) {
    add_collective(ranks, {.group = "tp", .group_size = 2, .durations = {500, 500, 500, 100}});
  }
  for (size_t rank = 0; rank < 4; ++rank)
    ranks[rank].groups[0].ranks = rank < 2 ? "[0, 1]" : "[2, 3]";
  const Arrivals found = arrivals_of(ranks);
  EXPECT_EQ(found.compared, 40);
  ASSERT_EQ(found.stragglers.size(), 1U);
  EXPECT_EQ(found.stragglers[0].rank, 3U);
  EXPECT_EQ(found.stragglers[0].of, 20);
}

TEST(Arrivals, SayWhyNobodyIsNamed) {
  EXPECT_EQ(arrivals_of(make_ranks(2)).reason, NoStraggler::kNoCollectives);
  std::vector<RankData> ranks = make_ranks(2);
  for (int i = 0; i < 20; ++i) add_collective(ranks, {.durations = {900, 100}});
  EXPECT_EQ(arrivals_of(ranks).reason, NoStraggler::kNamed);
  for (RankData& rank : ranks) rank.world_size = rank.groups[0].size = 128;
  EXPECT_EQ(arrivals_of(ranks).reason, NoStraggler::kRanksMissing);
  for (RankData& rank : ranks) rank.world_size = rank.groups[0].size = 2;
  for (RankCollective& one : ranks[0].collectives) one.bytes = 2;
  for (RankCollective& one : ranks[1].collectives) one.bytes = 1;
  EXPECT_EQ(arrivals_of(ranks).reason, NoStraggler::kDifferent);
}

// The file of the straggler lacks every second collective. The time before the next one is then
// longer, which is not a cause.
TEST(Arrivals, CauseNeedsThePrecedingCollective) {
  std::vector<RankData> ranks = make_ranks(3);
  for (int i = 0; i < 40; ++i) {
    add_collective(ranks, {.durations = {500, 100, 500}});
    for (RankData& rank : ranks) rank.collectives.back().sequence = i;
    ranks[1].collectives.back().before[static_cast<size_t>(Between::kDataLoading)] = 400;
  }
  std::vector<RankCollective> kept;
  for (size_t i = 0; i < 40; ++i) {
    if (i % 3 == 1) continue;
    kept.push_back(ranks[1].collectives[i]);
    if (i % 3 == 2) kept.back().before[static_cast<size_t>(Between::kHost)] = 100'000;
  }
  ranks[1].collectives = kept;
  const Arrivals found = arrivals_of(ranks);
  ASSERT_EQ(found.stragglers.size(), 1U);
  EXPECT_EQ(found.stragglers[0].cause, Between::kDataLoading);
}

// Ranks that take turns in being late are no stragglers, and their jitter is not a cause.
TEST(Arrivals, CauseCountsAllCollectives) {
  std::vector<RankData> ranks = make_ranks(2);
  for (int i = 0; i < 100; ++i) {
    const bool is_late = i % 4 != 0;  // rank 1, by computing longer; otherwise rank 0 does
    add_collective(ranks, {.durations = {is_late ? 600 : 100, is_late ? 100 : 560}});
    constexpr auto kCompute = static_cast<size_t>(Between::kCompute);
    constexpr auto kLoading = static_cast<size_t>(Between::kDataLoading);
    ranks[0].collectives.back().before[kCompute] = is_late ? 1000 : 1500;
    ranks[1].collectives.back().before[kCompute] = is_late ? 1250 : 750;
    ranks[1].collectives.back().before[kLoading] = 250;
  }
  const Arrivals found = arrivals_of(ranks);
  ASSERT_EQ(found.stragglers.size(), 1U);
  EXPECT_EQ(found.stragglers[0].rank, 1U);
  EXPECT_EQ(found.stragglers[0].cause, Between::kDataLoading);
}

// Collectives of one coalesced call share a number.
TEST(Arrivals, MatchCollectivesWithTheSameNumber) {
  std::vector<RankData> ranks = make_ranks(2);
  for (int i = 0; i < 40; ++i) {
    const int64_t bytes = i % 2 == 0 ? 4000 : 36'000;
    add_collective(ranks, {.durations = {bytes, bytes}, .bytes = {bytes}});
    for (RankData& rank : ranks) rank.collectives.back().sequence = i / 2;
  }
  const auto kinds = collective_kinds(ranks, match_collectives(ranks));
  ASSERT_EQ(kinds.size(), 1U);
  EXPECT_EQ(kinds[0].count, 40);
  EXPECT_EQ(kinds[0].bytes, 20'000);
  // Another kind with the same number is another collective.
  ranks[1].kinds[0] = "reduce_scatter";
  EXPECT_EQ(arrivals_of(ranks).compared, 0);
}

// Kernels that differ by less than the ends are no evidence.
TEST(Arrivals, IgnoreDifferencesWithinTheNoise) {
  std::vector<RankData> ranks = make_ranks(3);
  for (int i = 0; i < 20; ++i) add_collective(ranks, {.durations = {130, 100, 130}});
  EXPECT_EQ(arrivals(ranks, match_collectives(ranks), 30).reason, NoStraggler::kChance);
  EXPECT_EQ(arrivals(ranks, match_collectives(ranks), 29).reason, NoStraggler::kNamed);
}

}  // namespace
}  // namespace epi::analysis
