// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/ranks_screen.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "epilogue/report/first_screen.h"

namespace epi::report {
namespace {

RankScreen make_rank(int64_t rank, double communication_ns) {
  RankScreen screen;
  screen.name = fmt::format("{}", rank);
  screen.device = "NVIDIA H200";
  screen.steps = 3;
  screen.limiter = analysis::Limiter::kCommunication;
  screen.limiter_share = 0.6;
  screen.step_ns = 20e6;
  screen.busy_share = 0.9;
  screen.communication_ns = communication_ns;
  screen.advice = "gate+up+activation kernel";
  return screen;
}

TEST(RanksScreen, ReportsTheRankOthersWaitFor) {
  const std::string screen = ranks_screen(
      {make_rank(0, 9e6), make_rank(1, 8e6), make_rank(2, 1e6), make_rank(3, 9e6)}, "run", 80);
  EXPECT_NE(screen.find("wait for rank 2"), std::string::npos) << screen;
  EXPECT_NE(screen.find("4 of 4 ranks are communication-bound"), std::string::npos) << screen;
}

TEST(RanksScreen, ReportsNoRankIfAllTakeEquallyLong) {
  const std::string screen = ranks_screen({make_rank(0, 9e6), make_rank(1, 8e6)}, "run", 80);
  EXPECT_NE(screen.find("no straggler"), std::string::npos) << screen;
}

TEST(RanksScreen, FitsWithManyRanks) {
  std::vector<RankScreen> ranks;
  for (int64_t i = 0; i < 512; ++i) ranks.push_back(make_rank(i, 1e6 * static_cast<double>(i)));
  ranks[7].name = "worker_7_of_a_long_name.pt.trace.json.gz";
  std::istringstream screen(ranks_screen(ranks, "a_folder_with_a_long_name", 80));
  size_t lines = 0;
  for (std::string line; std::getline(screen, line); ++lines) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_LE(lines, kScreenLines);
}

}  // namespace
}  // namespace epi::report
