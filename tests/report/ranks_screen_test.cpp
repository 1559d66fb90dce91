// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/ranks_screen.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "epilogue/report/first_screen.h"

namespace epi::report {
namespace {

constexpr int64_t kTransferNs = 100'000;

// A rank with ten all-reduces per step in which it waits this long for another one.
RankScreen make_rank(int64_t rank, int64_t wait_ns, int64_t ranks) {
  RankScreen screen;
  screen.name = fmt::format("{}", rank);
  screen.device = "NVIDIA H200";
  screen.steps = 3;
  screen.limiter = analysis::Limiter::kCommunication;
  screen.limiter_share = 0.6;
  screen.step_ns = 20e6;
  screen.busy_share = 0.9;
  screen.collectives.assign(30, {"all_reduce", "0", kTransferNs + wait_ns, ranks, 1'000'000});
  screen.communication_ns = 10.0 * static_cast<double>(kTransferNs + wait_ns);
  screen.advice = "gate+up+activation kernel";
  return screen;
}

std::string text_of(const std::vector<RankScreen>& ranks) {
  std::string text = ranks_screen(ranks, "run", 80);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void expect_text(const std::vector<RankScreen>& ranks, const char* part) {
  EXPECT_NE(text_of(ranks).find(part), std::string::npos) << text_of(ranks);
}

TEST(RanksScreen, ReportsTheRankOthersWaitFor) {
  std::vector<RankScreen> ranks = {make_rank(0, 9000, 4), make_rank(1, 8000, 4), make_rank(2, 0, 4),
                                   make_rank(3, 9000, 4)};
  expect_text(ranks,
              "Rank 2 arrives last in 30 of 30 collectives. The median rank waits 90.00 us "
              "per step for it.");
  expect_text(ranks, "4 of 4 ranks are communication-bound");
  expect_text(ranks, "all_reduce  0         30  1.000 MB  8.500 us  100.0 us     15.00 GB/s");
  for (RankScreen& rank : ranks) rank.steps = 1;
  expect_text(ranks, "waits 270.0 us per step for it; one step does not show whether it always");
}

TEST(RanksScreen, SaysThatSmallerGroupsAreNotCompared) {
  std::vector<RankScreen> ranks = {make_rank(0, 9000, 2), make_rank(1, 0, 2)};
  ranks[0].collectives.push_back({"all_reduce", "tp", 1, 1, {}});
  expect_text(ranks, "Rank 1 arrives last in 30 of 30 collectives.");
  expect_text(ranks, "Collectives of smaller groups are not compared.");
}

TEST(RanksScreen, ReportsNoRankIfTheyTakeTurns) {
  std::vector<RankScreen> ranks = {make_rank(0, 9000, 2), make_rank(1, 9000, 2)};
  for (size_t i = 0; i < 30; ++i) ranks[i % 2].collectives[i].dur_ns = kTransferNs;
  ranks[1].collectives[0].dur_ns = kTransferNs;  // a tie: nobody is last
  expect_text(ranks, "No straggler: no rank arrives last in more than 15 of 30 collectives.");
}

TEST(RanksScreen, NamesNoRankIfRanksOrCollectivesAreMissing) {
  std::vector<RankScreen> ranks = {make_rank(0, 9000, 2), make_rank(1, 0, 2)};
  for (RankScreen& rank : ranks) rank.world_size = 128;
  expect_text(ranks, "No straggler is named: these are 2 of 128 ranks.");
  for (RankScreen& rank : ranks) rank.world_size = 2;
  ranks[1].collectives[7].kind = "all_gather";
  expect_text(ranks, "No straggler is named: the files contain different collectives.");
  ranks[1].collectives.pop_back();
  expect_text(ranks, "the files contain different collectives.");
  for (RankScreen& rank : ranks) rank.collectives.clear();
  expect_text(ranks, "in no collective do all ranks wait for each other.");
}

TEST(RanksScreen, FitsWithManyRanks) {
  std::vector<RankScreen> ranks;
  for (int64_t i = 0; i < 512; ++i) ranks.push_back(make_rank(i, 1000 * i, 512));
  ranks[7].name = "worker_7_of_a_long_name.pt.trace.json.gz";
  std::istringstream screen(ranks_screen(ranks, "a_folder_with_a_long_name", 80));
  size_t lines = 0;
  for (std::string line; std::getline(screen, line); ++lines) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_LE(lines, kScreenLines);
}

}  // namespace
}  // namespace epi::report
