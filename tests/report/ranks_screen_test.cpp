// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/ranks_screen.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "epilogue/report/first_screen.h"

namespace epi::report {
namespace {

RankScreen made(int64_t rank, double communication_ns) {
  RankScreen made;
  made.name = fmt::format("{}", rank);
  made.device = "NVIDIA H200";
  made.steps = 3;
  made.limiter = analysis::Limiter::kCommunication;
  made.limiter_share = 0.6;
  made.step_ns = 20e6;
  made.busy_share = 0.9;
  made.communication_ns = communication_ns;
  made.advice = "gate+up+activation kernel";
  return made;
}

TEST(RanksScreen, NamesTheRankThatTheOthersWaitFor) {
  const std::string screen =
      ranks_screen({made(0, 9e6), made(1, 8e6), made(2, 1e6), made(3, 9e6)}, "run", 80);
  EXPECT_NE(screen.find("wait for rank 2"), std::string::npos) << screen;
  EXPECT_NE(screen.find("4 of 4 ranks are comm.-bound"), std::string::npos) << screen;
}

TEST(RanksScreen, NamesNoneWhereAllTakeAsLong) {
  const std::string screen = ranks_screen({made(0, 9e6), made(1, 8e6)}, "run", 80);
  EXPECT_NE(screen.find("no rank is waited for"), std::string::npos) << screen;
}

TEST(RanksScreen, FitsWithManyRanks) {
  std::vector<RankScreen> ranks;
  for (int64_t i = 0; i < 512; ++i) ranks.push_back(made(i, 1e6 * static_cast<double>(i)));
  ranks[7].name = "worker_7_of_a_long_name.pt.trace.json.gz";
  std::istringstream screen(ranks_screen(ranks, "a_folder_with_a_long_name", 80));
  size_t lines = 0;
  for (std::string line; std::getline(screen, line); ++lines) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_LE(lines, kScreenLines);
}

}  // namespace
}  // namespace epi::report
