// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/ranks/ranks_page.h"

#include <gtest/gtest.h>

#include "epilogue/report/text/html_text.h"
#include "tests/analysis/rank_lists.h"

namespace epi::report {
namespace {

using analysis::Between;
using analysis::RankData;

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Ten collectives of a millisecond each in one step. The last rank loads data for 50 us before
// each.
std::vector<RankData> make_job(size_t count) {
  std::vector<RankData> ranks = analysis::make_ranks(static_cast<int64_t>(count));
  std::vector<int64_t> durations(count, 150'000);
  durations.back() = 100'000;
  for (int i = 0; i < 10; ++i)
    add_collective(ranks, {.durations = durations, .bytes = {1'000'000}});
  for (RankData& rank : ranks) {
    rank.file = "rank.json";
    analysis::RankStep step;
    step.number = 3;
    step.when = {0, 11'000'000};
    step.shares.window_ns = 11'000'000;
    rank.steps = {step};
  }
  for (auto& one : ranks.back().collectives) {
    one.before[static_cast<size_t>(Between::kDataLoading)] = 50'000;
  }
  return ranks;
}

std::string page_of(const std::vector<RankData>& ranks) {
  return ranks_page(analysis::analyze_ranks(ranks), "a <job>");
}

TEST(RanksPage, DrawsALanePerRank) {
  const std::string page = page_of(make_job(4));
  EXPECT_NE(page.find("<h2>Step 3</h2>"), std::string::npos);
  EXPECT_EQ(count_of(page, "<rect class=\"transfer\""), 40U);
  EXPECT_EQ(count_of(page, "<rect class=\"wait\""), 30U);     // not on the last rank
  EXPECT_EQ(count_of(page, "<rect class=\"loading\""), 10U);  // only there
  EXPECT_EQ(count_of(page, "<polyline class=\"links\""), 10U);
  EXPECT_EQ(count_of(page, "class=\"late\">late: 3"), 1U);
  EXPECT_NE(page.find("Rank 3 arrives last in 10 of 10 collectives."), std::string::npos);
  EXPECT_NE(page.find("<title>data loading: 50.00 us</title>"), std::string::npos);
  EXPECT_NE(page.find("all_reduce: waits 50.00 us"), std::string::npos);
}

TEST(RanksPage, DrawsAtMost64Lanes) {
  const std::string page = page_of(make_job(70));
  EXPECT_EQ(count_of(page, "text-anchor=\"end\""), 64U + 1);  // and the last tick
  EXPECT_NE(page.find("6 more ranks are not drawn."), std::string::npos);
}

TEST(RanksPage, EscapesNames) {
  std::vector<RankData> ranks = make_job(2);
  ranks[1].kinds[0] = ranks[0].kinds[0] = "<script>\"&";
  ranks[0].has_rank = false;
  ranks[0].file = "<img src=x>.json";
  ranks[0].device = ranks[1].device = "<b>";
  const std::string page = page_of(ranks);
  for (const char* part : {"<script", "<img", "<b>", "a <job>"}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(html_text("<a href=\"x\">&\n"), "&lt;a href=&quot;x&quot;&gt;&amp;\\n");
}

TEST(RanksPage, WorksWithoutStepsAndCollectives) {
  EXPECT_EQ(page_of(analysis::make_ranks(2)).find("<svg"), std::string::npos);
  std::vector<RankData> ranks = make_job(2);
  for (RankData& rank : ranks) rank.collectives.clear();
  EXPECT_NE(page_of(ranks).find("<svg"), std::string::npos);
}

}  // namespace
}  // namespace epi::report
