// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/ranks/ranks_report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "epilogue/report/screen/first_screen.h"
#include "tests/analysis/rank_lists.h"

namespace epi::report {
namespace {

using analysis::Between;
using analysis::RankData;

constexpr int64_t kTransferNs = 100'000;

// Ranks with three steps of ten all-reduces each, in which they wait this long for another one.
std::vector<RankData> make_job(const std::vector<int64_t>& waits) {
  std::vector<RankData> ranks = analysis::make_ranks(static_cast<int64_t>(waits.size()));
  std::vector<int64_t> durations;
  for (const int64_t wait : waits) durations.push_back(kTransferNs + wait);
  for (int i = 0; i < 30; ++i) {
    add_collective(ranks, {.durations = durations, .bytes = {1'000'000}});
  }
  for (RankData& rank : ranks) {
    for (int64_t i = 0; i < 3; ++i) {
      analysis::RankStep step;
      step.when = {10'000'000 * i, 10'000'000 * (i + 1)};  // ten collectives
      step.shares.window_ns = 20'000'000 + 1000 * rank.rank;
      rank.steps.push_back(step);
    }
  }
  return ranks;
}

std::string text_of_job(const std::vector<RankData>& ranks) {
  std::string text = text_of(RanksResult{analysis::analyze_ranks(ranks), "run"}, {});
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void expect_text(const std::vector<RankData>& ranks, const char* part) {
  EXPECT_NE(text_of_job(ranks).find(part), std::string::npos) << text_of_job(ranks);
}

TEST(RanksReport, NamesTheRankOthersWaitFor) {
  std::vector<RankData> ranks = make_job({9000, 8000, 0, 9000});
  expect_text(ranks, "run | NVIDIA H200 | 4 ranks | 3 steps each");
  expect_text(ranks, "4 of 4 ranks are communication-bound.");
  expect_text(
      ranks,
      "Rank 2 arrives last in 30 of 30 collectives. The median rank then waits 90.00 us per step, "
      "80.00 us of it for this one alone. Nothing that it did longer than the median rank explains "
      "half of that.");
  expect_text(ranks,
              "all_reduce  9.000 us     30  1.000 MB  108.5 us  9.000 us  100.0 us     15.00");
  for (analysis::RankCollective& one : ranks[2].collectives) {
    one.before[static_cast<size_t>(Between::kDataLoading)] = 8000;
  }
  expect_text(ranks, "Cause: 80.00 us more data loading per step than the median rank.");
  ranks[2].activities = {{Between::kDataLoading, "DataLoader", 240'000}};
  expect_text(ranks, "than the median rank, mostly DataLoader.");
  for (RankData& rank : ranks) rank.steps.resize(1);
  expect_text(ranks, "one step does not show whether it always does.");
}

TEST(RanksReport, NamesNobodyIfTheyTakeTurns) {
  std::vector<RankData> ranks = make_job({9000, 9000});
  for (size_t i = 0; i < 30; ++i) {
    analysis::Interval& when = ranks[i % 2].collectives[i].when;
    when.begin = when.end - kTransferNs;
  }
  ranks[1].collectives[0].when = ranks[0].collectives[0].when;  // a tie: nobody is last
  expect_text(ranks, "No straggler: no rank arrives last more often than chance explains.");
}

TEST(RanksReport, MentionsARankThatIsRarelyLateButByMuch) {
  std::vector<RankData> ranks = make_job(std::vector<int64_t>(8, 9000));
  for (size_t i = 0; i < 30; ++i) {
    // They take turns, and rank 3 is very late twice.
    analysis::Interval& when = ranks[i % 8].collectives[i].when;
    when.begin = when.end - kTransferNs;
    if (i % 8 != 3 || i > 12) continue;
    for (RankData& rank : ranks) rank.collectives[i].when.begin -= 1'000'000;
    when.begin += 1'000'000;
  }
  expect_text(
      ranks,
      "No rank arrives last more often than chance explains. But 90 % of the waiting is for "
      "rank 3, which arrives last in 4 of 30 collectives.");
}

TEST(RanksReport, CountsHosts) {
  std::vector<RankData> ranks = make_job({9000, 0, 9000});
  for (RankData& rank : ranks) rank.host = rank.rank < 2 ? "node-a" : "node-b";
  expect_text(ranks, "run | NVIDIA H200 | 2 hosts | 3 ranks |");
  ranks[1].host = "";  // unknown
  expect_text(ranks, "run | NVIDIA H200 | 3 ranks |");
}

TEST(RanksReport, NamesFilesWithoutARank) {
  std::vector<RankData> ranks = make_job({9000, 0});
  ranks[1].has_rank = false;
  ranks[1].file = "folder/b.json";
  expect_text(ranks, "File b.json arrives last in 30 of 30 collectives.");
}

TEST(RanksReport, SaysThatGroupsMayShareAName) {
  std::vector<RankData> ranks = make_job({9000, 0, 9000, 9000});
  for (RankData& rank : ranks) rank.groups[0].size = 2;
  expect_text(ranks,
              "No straggler is named: several process groups may have the same name, and the files "
              "do not list their ranks.");
}

TEST(RanksReport, SaysWhyNobodyIsNamed) {
  std::vector<RankData> ranks = make_job({9000, 0});
  for (RankData& rank : ranks) rank.world_size = rank.groups[0].size = 128;
  expect_text(ranks, "| 2 of 128 ranks |");
  expect_text(ranks, "No straggler is named: these are 2 of 128 ranks.");
  for (RankData& rank : ranks) rank.world_size = rank.groups[0].size = 2;
  for (analysis::RankCollective& one : ranks[1].collectives) one.bytes = 1;
  expect_text(ranks, "No straggler is named: the files have too few collectives in common.");
  for (RankData& rank : ranks) rank.collectives.clear();
  expect_text(ranks, "No collectives in which all ranks of a group wait for each other.");
}

TEST(RanksReport, SaysWhatIsNotCompared) {
  std::vector<RankData> ranks = make_job({9000, 0, 9000, 9000});
  for (RankData& rank : ranks) rank.groups[0].name = "";
  expect_text(ranks, "Process groups are not recorded: collectives are taken to be of all ranks.");
  ranks[0].collectives.pop_back();
  expect_text(ranks, "Rank 1 arrives last in 29 of 29 collectives.");
  expect_text(ranks, "1 collective is not found in all files.");
  ranks[3].point_to_point = 7;
  expect_text(ranks, "7 point-to-point kernels are not compared.");
}

TEST(RanksReport, ShowsTheClockThatDiffersMost) {
  std::vector<RankData> ranks = make_job({9000, 0, 9000});
  for (analysis::RankCollective& one : ranks[2].collectives) {
    one.when.begin -= 5000;
    one.when.end -= 5000;
  }
  expect_text(ranks,
              "The clock of rank 2 differs most from rank 0's: -5.000 us (95 %: -5.000 us to "
              "-5.000 us).");
}

TEST(RanksReport, FitsWithManyRanks) {
  std::vector<int64_t> waits;
  for (int64_t i = 0; i < 512; ++i) waits.push_back(1000 * i);
  std::vector<RankData> ranks = make_job(waits);
  ranks[7].has_rank = false;
  ranks[7].file = "worker_7_of_a_long_name.pt.trace.json.gz";
  const analysis::Ranks analyzed = analysis::analyze_ranks(ranks);
  const std::string text = text_of(RanksResult{analyzed, "a_folder_with_a_long_name"}, {});
  EXPECT_NE(text.find("506 more ranks, with steps of 20.00 ms to 20.51 ms"), std::string::npos)
      << text;
  std::istringstream screen(text);
  size_t lines = 0;
  for (std::string line; std::getline(screen, line); ++lines) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_LE(lines, kScreenLines);
  // The straggler is shown, wherever it is in the order.
  std::swap(ranks[0].steps, ranks[200].steps);
  EXPECT_NE(text_of(RanksResult{analysis::analyze_ranks(ranks), "run"}, {}).find("\n  0  "),
            std::string::npos);
  // All of them.
  const std::string markdown = text_of(RanksResult{analyzed, "run"}, {.markdown = true});
  EXPECT_EQ(std::count(markdown.begin(), markdown.end(), '\n') > 512, true);
}

}  // namespace
}  // namespace epi::report
