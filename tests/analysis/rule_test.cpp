// SPDX-License-Identifier: Apache-2.0
// Every production of the rule grammar. rule_errors_test.cpp covers errors.
#include "epilogue/analysis/expect/rule.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "tests/analysis/check_rules.h"

namespace epi::analysis {
namespace {

TEST(Rule, ParsesSubjectKinds) {
  EXPECT_EQ(parsed("step: kernels == 5").subject, SubjectKind::kStep);
  EXPECT_EQ(parsed("trace: kernels == 5").subject, SubjectKind::kTrace);
  EXPECT_EQ(parsed("mlp_fwd: kernels == 5").subject, SubjectKind::kNamed);
  // Only the bare words `step` and `trace` are special.
  EXPECT_EQ(parsed("/step/: kernels == 5").subject, SubjectKind::kNamed);
  EXPECT_EQ(parsed("steps: kernels == 5").subject, SubjectKind::kNamed);
  EXPECT_EQ(parsed("ProfilerStep#3: kernels == 5").subject, SubjectKind::kNamed);
}

TEST(Rule, SubjectEndsAtTheColonBeforeTheClaim) {
  const char* subjects[] = {"mlp_fwd",
                            "aten::t",
                            "Torch-Compiled Region: 0/0",
                            "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                            "Optimizer.step#AdamW.step",
                            "TorchDynamo Cache Lookup",
                            "## Call CompiledFxGraph fbch ##",
                            "a < b",
                            "kernels",
                            "no sync"};
  const char* claims[] = {"kernels == 4", "median gpu_time < 5us", "no op aten::t",
                          "has sync",     "count aten::t == 3",    "same kernels as base.json"};
  for (const std::string subject : subjects) {
    for (const std::string claim : claims) {
      const std::string text = fmt::format("{}: {}", subject, claim);
      SCOPED_TRACE(text);
      const Rule rule = parsed(text);
      EXPECT_EQ(rule.subject, SubjectKind::kNamed);
      EXPECT_EQ(rule.subject_name.text(), subject);
      EXPECT_FALSE(rule.subject_name.is_regex());
    }
  }
}

TEST(Rule, RegexEndsAtItsClosingSlash) {
  const std::pair<const char*, const char*> subjects[] = {
      {"/mlp_.*/", "mlp_.*"},
      {"/aten::(mm|addmm)$/", "aten::(mm|addmm)$"},
      {"/Region: \\d+\\/\\d+/", "Region: \\d+\\/\\d+"},
      {"/x: kernels == 3/", "x: kernels == 3"},
      {"/a b/ ", "a b"},
  };
  for (const auto& [text, regex] : subjects) {
    const Rule rule = parsed(std::string(text) + ": kernels == 4");
    EXPECT_TRUE(rule.subject_name.is_regex()) << text;
    EXPECT_EQ(rule.subject_name.text(), regex);
    EXPECT_EQ(rule.measure, Measure::kKernels);
    EXPECT_EQ(rule.value, 4);
  }
}

TEST(Pattern, MatchesWholeNamesAndSearchesRegexes) {
  const Pattern name = Pattern::name("aten::t");
  EXPECT_TRUE(name.matches("aten::t"));
  EXPECT_FALSE(name.matches("aten::tanh"));
  const auto regex = Pattern::regex("aten::t");
  ASSERT_TRUE(regex);
  EXPECT_TRUE(regex->matches("aten::tanh"));
  EXPECT_FALSE(regex->matches("aten::mm"));
  EXPECT_TRUE(Pattern::regex("Step#1234567890"));
  EXPECT_FALSE(Pattern::regex("(a)\\99999999999999999999"));
  EXPECT_FALSE(Pattern::regex("a{99999999999999999999}"));
  EXPECT_FALSE(Pattern::regex("a{1,99999999999999999999}"));
  const auto escaped = Pattern::regex("Region: \\d+\\/\\d+$");
  ASSERT_TRUE(escaped);
  EXPECT_TRUE(escaped->matches("Torch-Compiled Region: 0/12"));
  EXPECT_FALSE(escaped->matches("Torch-Compiled Region: 0/a"));
}

TEST(Rule, ParsesEveryMeasure) {
  const std::pair<const char*, Measure> measures[] = {
      {"kernels", Measure::kKernels},     {"launches", Measure::kLaunches},
      {"gemm", Measure::kGemm},           {"pointwise", Measure::kPointwise},
      {"reduction", Measure::kReduction}, {"memcpy", Measure::kMemcpy},
      {"memset", Measure::kMemset},       {"syncs", Measure::kSyncs},
      {"gpu_time", Measure::kGpuTime},    {"cpu_time", Measure::kCpuTime},
      {"busy", Measure::kBusy},           {"idle", Measure::kIdle},
      {"bytes", Measure::kBytes},         {"count aten::t", Measure::kCount}};
  for (const auto& [text, measure] : measures) {
    const Rule rule = parsed(std::string("mlp_fwd: ") + text + " >= 0");
    EXPECT_EQ(rule.claim, ClaimKind::kMeasure) << text;
    EXPECT_EQ(rule.measure, measure) << text;
    EXPECT_EQ(rule.quantifier, Quantifier::kEach) << text;
  }
}

TEST(Rule, ParsesEveryQuantifierAndComparison) {
  const std::pair<const char*, Quantifier> quantifiers[] = {{"each", Quantifier::kEach},
                                                            {"any", Quantifier::kAny},
                                                            {"avg", Quantifier::kAvg},
                                                            {"median", Quantifier::kMedian}};
  const std::pair<const char*, Cmp> cmps[] = {{"==", Cmp::kEqual}, {"!=", Cmp::kNotEqual},
                                              {"<", Cmp::kLess},   {"<=", Cmp::kLessOrEqual},
                                              {">", Cmp::kMore},   {">=", Cmp::kMoreOrEqual}};
  for (const auto& [word, quantifier] : quantifiers) {
    for (const auto& [sign, cmp] : cmps) {
      for (const char* measure : {"kernels", "count std::array<char*, 3ul>"}) {
        const std::string text = fmt::format("step: {} {} {} 3", word, measure, sign);
        const Rule rule = parsed(text);
        EXPECT_EQ(rule.quantifier, quantifier) << text;
        EXPECT_EQ(rule.cmp, cmp) << text;
        EXPECT_EQ(rule.value, 3) << text;
      }
    }
  }
}

TEST(Cmp, ComparesBelowAtAndAbove) {
  const std::pair<Cmp, std::array<bool, 3>> truths[] = {
      {Cmp::kEqual, {false, true, false}}, {Cmp::kNotEqual, {true, false, true}},
      {Cmp::kLess, {true, false, false}},  {Cmp::kLessOrEqual, {true, true, false}},
      {Cmp::kMore, {false, false, true}},  {Cmp::kMoreOrEqual, {false, true, true}}};
  for (const auto& [cmp, expected] : truths) {
    const std::array<bool, 3> found = {holds(cmp, 2, 3), holds(cmp, 3, 3), holds(cmp, 4, 3)};
    EXPECT_EQ(found, expected) << static_cast<int>(cmp);
  }
}

TEST(Rule, CountAcceptsNamesWithPunctuation) {
  const std::pair<const char*, bool> things[] = {
      {"aten::linear", false},
      {"Torch-Compiled Region: 0/0", false},
      {"void at::native::vectorized_elementwise_kernel<4, std::array<char*, 3ul> >(int)", false},
      {"f<(x>=3)>", false},
      {"operator==", false},
      {"a: kernels", false},
      {"/cudaOccupancy/", true},
      {"/<8, .*>/", true},
      {"/0\\/1: a/", true},
      {"/a == 3/", true}};
  for (const auto& [thing, is_regex] : things) {
    const Rule rule = parsed(fmt::format("mlp_fwd: count {} == 3", thing));
    const std::string_view whole(thing);
    EXPECT_EQ(rule.subject_name.text(), "mlp_fwd");
    EXPECT_EQ(rule.thing.is_regex(), is_regex) << thing;
    EXPECT_EQ(rule.thing.text(), is_regex ? whole.substr(1, whole.size() - 2) : whole);
    EXPECT_EQ(rule.cmp, Cmp::kEqual);
    EXPECT_EQ(rule.value, 3);
  }
}

TEST(Rule, ConvertsUnits) {
  struct Case {
    const char* claim;
    RuleUnit unit;
    double value;
  };
  const Case cases[] = {
      {"gpu_time < 250", RuleUnit::kNanoseconds, 250e3},  // without a unit: microseconds
      {"gpu_time < 250ns", RuleUnit::kNanoseconds, 250},
      {"gpu_time < 250us", RuleUnit::kNanoseconds, 250e3},
      {"cpu_time < 2.5 ms", RuleUnit::kNanoseconds, 2.5e6},
      {"idle < 2s", RuleUnit::kNanoseconds, 2e9},
      {"idle < 40", RuleUnit::kNanoseconds, 40e3},
      {"idle < 25%", RuleUnit::kShare, 0.25},
      {"busy > 50%", RuleUnit::kShare, 0.5},
      {"busy > 0.5", RuleUnit::kShare, 0.5},
      {"bytes < 8", RuleUnit::kBytes, 8},
      {"bytes < 8B", RuleUnit::kBytes, 8},
      {"bytes < 8kB", RuleUnit::kBytes, 8e3},
      {"bytes < 8 MB", RuleUnit::kBytes, 8e6},
      {"bytes < 1.5GB", RuleUnit::kBytes, 1.5e9},
      {"kernels < 1e3", RuleUnit::kCount, 1000},
      {"count aten::t < 7", RuleUnit::kCount, 7}};
  for (const Case& one : cases) {
    const Rule rule = parsed(std::string("step: median ") + one.claim);
    EXPECT_EQ(rule.unit, one.unit) << one.claim;
    EXPECT_DOUBLE_EQ(rule.value, one.value) << one.claim;
  }
}

TEST(Rule, ParsesHasAndNo) {
  struct Case {
    const char* what;
    What expected;
    const char* thing;
  };
  const Case cases[] = {{"kernel nvjet<4, 8>", What::kKernel, "nvjet<4, 8>"},
                        {"kernel /nvjet/", What::kKernel, "nvjet"},
                        {"op aten::t", What::kOp, "aten::t"},
                        {"op Region: 0/0", What::kOp, "Region: 0/0"},
                        {"call /cuda(Device|Stream)\\/x/", What::kCall, "cuda(Device|Stream)\\/x"},
                        {"memcpy", What::kMemcpy, ""},
                        {"memset", What::kMemset, ""},
                        {"sync", What::kSync, ""}};
  for (const Case& one : cases) {
    const Rule has = parsed(std::string("mlp_fwd: has ") + one.what);
    const Rule has_no = parsed(std::string("mlp_fwd: no ") + one.what);
    EXPECT_EQ(has.claim, ClaimKind::kHas) << one.what;
    EXPECT_EQ(has_no.claim, ClaimKind::kHasNo) << one.what;
    EXPECT_EQ(has.what, one.expected) << one.what;
    EXPECT_EQ(has_no.what, one.expected) << one.what;
    EXPECT_EQ(has.thing.text(), one.thing);
  }
}

TEST(Rule, ParsesSameKernelsAs) {
  for (const char* path : {"base.json", "../runs/base line.json.gz", "C:/runs/base.json"}) {
    const Rule rule = parsed(std::string("mlp_fwd: same kernels as ") + path);
    EXPECT_EQ(rule.claim, ClaimKind::kSameKernels);
    EXPECT_EQ(rule.subject_name.text(), "mlp_fwd");
    EXPECT_EQ(rule.path, path);
  }
}

TEST(Rule, IgnoresExtraWhitespace) {
  for (const char* text : {"mlp_fwd:kernels==5", "  mlp_fwd  :  kernels  ==  5  ",
                           "\tmlp_fwd:\tkernels\t==\t5\r", "mlp_fwd: kernels == 5.0"}) {
    const Rule rule = parsed(text);
    EXPECT_EQ(rule.subject_name.text(), "mlp_fwd") << text;
    EXPECT_EQ(rule.measure, Measure::kKernels) << text;
    EXPECT_EQ(rule.cmp, Cmp::kEqual) << text;
    EXPECT_EQ(rule.value, 5) << text;
  }
  EXPECT_EQ(parsed("  mlp_fwd: kernels == 5  ").text, "mlp_fwd: kernels == 5");
}

}  // namespace
}  // namespace epi::analysis
