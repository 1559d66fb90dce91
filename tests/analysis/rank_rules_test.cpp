// SPDX-License-Identifier: Apache-2.0
// Rules about the ranks of a job.
#include "epilogue/analysis/expect/rank_rules.h"

#include <gtest/gtest.h>

#include "epilogue/analysis/expect/rule_parser.h"
#include "tests/analysis/rank_lists.h"

namespace epi::analysis {
namespace {

// Twenty all-reduces, in which rank 1 arrives last.
std::vector<RankData> make_job() {
  std::vector<RankData> ranks = make_ranks(3);
  for (int i = 0; i < 20; ++i)
    add_collective(ranks, {.durations = {130'000 + 1000 * i, 100'000, 140'000}});
  for (RankData& rank : ranks) {
    RankStep step;
    step.when = {0, 100'000'000};
    step.shares.window_ns = 1'000'000 + 100'000 * rank.rank * rank.rank;
    rank.steps = {step};
  }
  return ranks;
}

RuleResult check(const std::vector<RankData>& ranks, const char* text) {
  const auto rule = parse_rule(text);
  EXPECT_TRUE(rule) << rule.error().message;
  EXPECT_EQ(rule->subject, SubjectKind::kRanks);
  return check_rank_rule(analyze_ranks(ranks), *rule);
}

TEST(RankRules, MeasureEachCollective) {
  const RuleResult ok = check(make_job(), "ranks: skew < 50us");
  EXPECT_TRUE(ok.ok);
  EXPECT_EQ(ok.instances, 20);
  EXPECT_EQ(ok.found_min, 40'000);
  EXPECT_EQ(ok.found_max, 49'000);
  EXPECT_EQ(ok.found, 49'000);
  const RuleResult broken = check(make_job(), "ranks: skew < 48us");
  EXPECT_FALSE(broken.ok);
  ASSERT_EQ(broken.broken.size(), 2U);
  EXPECT_EQ(broken.broken[0].instance, "all_reduce 19 of group 0");  // the worst first
  EXPECT_EQ(broken.broken[0].found, 49'000);
}

TEST(RankRules, TakeQuantifiers) {
  EXPECT_TRUE(check(make_job(), "ranks: any skew < 41us").ok);
  EXPECT_FALSE(check(make_job(), "ranks: any skew < 40us").ok);
  // The others wait 30, 31, ... 49 us, and 40 us: the mean of both in each collective.
  EXPECT_EQ(check(make_job(), "ranks: median wait < 1ms").found, (39'500 + 40'000) / 2.0);
  EXPECT_EQ(check(make_job(), "ranks: avg wait < 1ms").found, (39'500 + 40'000) / 2.0);
  EXPECT_EQ(check(make_job(), "ranks: any skew < 41us").found, 40'000);
  EXPECT_EQ(check(make_job(), "ranks: skew > 45us").found, 40'000);  // the worst
}

TEST(RankRules, MeasureRanksAndTheJob) {
  const RuleResult deviation = check(make_job(), "ranks: deviation < 9%");
  EXPECT_FALSE(deviation.ok);
  EXPECT_EQ(deviation.instances, 3);
  ASSERT_EQ(deviation.broken.size(), 2U);
  EXPECT_EQ(deviation.broken[0].instance, "rank 2");
  const RuleResult stragglers = check(make_job(), "ranks: stragglers == 0");
  EXPECT_FALSE(stragglers.ok);
  ASSERT_EQ(stragglers.broken.size(), 1U);
  EXPECT_EQ(stragglers.broken[0].instance, "rank 1");
}

TEST(RankRules, AreBrokenIfNothingIsCompared) {
  std::vector<RankData> ranks = make_job();
  for (RankData& rank : ranks) rank.world_size = rank.groups[0].size = 8;
  for (const char* rule : {"ranks: skew < 1s", "ranks: stragglers == 0"}) {
    const RuleResult result = check(ranks, rule);
    EXPECT_FALSE(result.ok) << rule;
    EXPECT_EQ(result.note, RuleNote::kNotCompared) << rule;
  }
}

TEST(RankRules, ParseOnlyTheirMeasures) {
  const auto message = [](const char* text) {
    const auto rule = parse_rule(text);
    return rule ? std::string("a rule") : rule.error().message;
  };
  EXPECT_EQ(message("ranks: kernels == 5"),
            "column 8: \"kernels\" is not a measure of ranks: skew, wait, deviation, stragglers");
  EXPECT_EQ(message("ranks: no sync"),
            "column 8: \"no\" is not a measure of ranks: skew, wait, deviation, stragglers");
  EXPECT_EQ(message("step: skew < 1us").substr(0, 34), "column 7: \"skew\" is not a measure:");
  EXPECT_EQ(message("ranks: skew < 5%"),
            "column 16: \"%\" does not fit; this measure is a time: ns, us, ms or s");
  EXPECT_EQ(message("each rank: kernels == 5"),
            "column 12: a subject is missing, as in \"each rank: step: kernels == 5\"");
  EXPECT_EQ(message("/^ranks$/: kernels == 5"), "a rule");
  const auto each = parse_rule("each rank: aten::t: gpu_time == 0");
  ASSERT_TRUE(each);
  EXPECT_EQ(each->subject_name.text(), "aten::t");
  EXPECT_EQ(each->text, "each rank: aten::t: gpu_time == 0");
}

}  // namespace
}  // namespace epi::analysis
