// SPDX-License-Identifier: Apache-2.0
// The rank that the others wait for, in jobs with planted delays.
#include "epilogue/analysis/ranks/arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace epi::analysis {
namespace {

using Ranks = std::vector<std::vector<CollectiveTime>>;

constexpr double kSigmaNs = 20'000;
constexpr int64_t kTransferNs = 300'000;

// Ranks arrive with normally distributed jitter, `late` of them by `delay_ns` later, if there is
// one.
Ranks make_job(size_t ranks, int collectives, std::optional<size_t> late, double delay_ns,
               uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> jitter(0, kSigmaNs);
  Ranks job(ranks);
  for (int i = 0; i < collectives; ++i) {
    std::vector<double> arrival(ranks);
    for (size_t rank = 0; rank < ranks; ++rank) {
      arrival[rank] = jitter(random) + (rank == late ? delay_ns : 0);
    }
    const double last = *std::max_element(arrival.begin(), arrival.end());
    for (size_t rank = 0; rank < ranks; ++rank) {
      job[rank].push_back({"all_reduce",
                           "0",
                           kTransferNs + static_cast<int64_t>(last - arrival[rank]),
                           static_cast<int64_t>(ranks),
                           {}});
    }
  }
  return job;
}

TEST(Arrivals, NameThePlantedStraggler) {
  for (const size_t ranks : {2, 8, 64}) {
    int named = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      const size_t late = seed % ranks;
      const Arrivals found = arrivals(make_job(ranks, 20, late, 3 * kSigmaNs, seed));
      ASSERT_TRUE(found.match);
      named += found.straggler == late;
    }
    EXPECT_GE(named, 95) << ranks;
  }
}

TEST(Arrivals, NameNobodyWithoutOne) {
  for (const size_t ranks : {2, 8, 64}) {
    int named = 0;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      named += arrivals(make_job(ranks, 20, std::nullopt, 0, seed)).straggler.has_value();
    }
    EXPECT_LE(named, 2) << ranks;
  }
}

TEST(Arrivals, WaitIsThatOfTheMedianRank) {
  Ranks ranks(3);
  for (int i = 0; i < 12; ++i) {
    ranks[0].push_back({"all_reduce", "0", 130, 3, {}});
    ranks[1].push_back({"all_reduce", "0", 100, 3, {}});
    ranks[2].push_back({"all_reduce", "0", 150, 3, {}});
  }
  const Arrivals found = arrivals(ranks);
  EXPECT_EQ(found.straggler, 1U);
  EXPECT_EQ(found.last, (std::vector<int64_t>{0, 12, 0}));
  EXPECT_EQ(found.waited_ns, 12 * (30 + 50) / 2.0);
}

TEST(Arrivals, BandwidthIsThatOfTheTransfer) {
  // 1 MB over 4 ranks in 10 us after the last one arrived: 100 bytes per ns, of which each link
  // carries 2 * 3/4.
  Ranks ranks(4);
  for (int64_t rank = 0; rank < 4; ++rank) {
    auto& list = ranks[static_cast<size_t>(rank)];
    list.push_back({"all_reduce", "dp", 10'000 + 1000 * rank, 4, 1'000'000});
    list.push_back({"all_to_all", "ep", 5'000, 4, 1000 * rank});  // uneven
    list.push_back({"all_reduce", "dp", 10'000 + 1000 * rank, 4, 1'000'000});
    list.push_back({"all_gather", "dp", 100, 4, std::nullopt});
  }
  const auto kinds = collective_kinds(ranks);
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_EQ(kinds[0].kind, "all_reduce");
  EXPECT_EQ(kinds[0].count, 2);
  EXPECT_EQ(kinds[0].bytes, 1e6);
  EXPECT_EQ(kinds[0].transfer_ns, 10'000);
  EXPECT_EQ(kinds[0].wait_ns, 1500);
  EXPECT_DOUBLE_EQ(kinds[0].bus_rate.value(), 150);
  EXPECT_EQ(kinds[1].kind, "all_to_all");
  EXPECT_EQ(kinds[1].bytes, 1500);
  EXPECT_DOUBLE_EQ(kinds[1].bus_rate.value(), 1500 * 0.75 / 5000);
  EXPECT_EQ(kinds[2].bytes, std::nullopt);
  EXPECT_EQ(kinds[2].bus_rate, std::nullopt);
  ranks[2].pop_back();
  EXPECT_TRUE(collective_kinds(ranks).empty());
}

// Two tensor-parallel groups with the same name: rank 3 is faster than the ranks of the other
// group, which do not wait for it.
TEST(Arrivals, DoNotCompareGroupsOfSomeRanks) {
  Ranks ranks(4);
  for (int i = 0; i < 20; ++i) {
    for (size_t rank = 0; rank < 4; ++rank) {
      ranks[rank].push_back({"all_reduce", "tp", rank == 3 ? 100 : 500, 2, {}});
    }
  }
  const Arrivals found = arrivals(ranks);
  EXPECT_EQ(found.of_subgroups, 80);
  EXPECT_EQ(found.collectives, 0);
  EXPECT_EQ(found.straggler, std::nullopt);
  EXPECT_TRUE(collective_kinds(ranks).empty());
}

TEST(Arrivals, NeedTwoRanksWithTheSameCollectives) {
  EXPECT_FALSE(arrivals({}).match);
  EXPECT_FALSE(arrivals({{{"all_reduce", "0", 1, 2, {}}}}).match);
  EXPECT_FALSE(arrivals({{{"all_reduce", "0", 1, 2, {}}}, {{"all_reduce", "1", 1, 2, {}}}}).match);
  EXPECT_FALSE(arrivals({{{"all_reduce", "0", 1, 2, {}}}, {}}).match);
  const Arrivals none = arrivals({{}, {}});
  EXPECT_TRUE(none.match);
  EXPECT_EQ(none.collectives, 0);
  EXPECT_EQ(none.straggler, std::nullopt);
}

}  // namespace
}  // namespace epi::analysis
