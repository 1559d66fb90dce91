// SPDX-License-Identifier: Apache-2.0
// Rules that the tool generates, and rules about runtime calls, on a trace in the style of an A100.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analysis/check_rules.h"

namespace epi::analysis {
namespace {

TEST(RulesThatHold, ParseAndHoldForTheirTrace) {
  const std::pair<const char*, Names> traces[] = {
      {"linear_eager.json", {"linear_fwd: kernels == 1", "aten::t: gpu_time == 0"}},
      {"linear_compile.json", {"linear_fwd: gemm == 1", "linear_fwd: pointwise == 0"}},
      {"matmul_add_64.json", {"matmul_add: kernels == 2", "step: pointwise == 1"}},
      {"matmul_add_4096.json", {"matmul_add: gemm == 1", "step: no sync"}},
      {"mlp_eager.json", {"mlp_fwd: kernels == 5", "aten::_unsafe_view: gpu_time == 0"}},
      {"mlp_compile.json", {"mlp_fwd: kernels == 4", "mlp_fwd: memcpy == 0"}},
      {"mlp_cudagraph.json", {"mlp_fwd: kernels == 5", "step: gemm == 3"}},
      {"mlp_liger.json", {"mlp_fwd: kernels == 4", "aten::view: gpu_time == 0"}},
      {"llama_train.json.gz", {"backward: kernels == 1003", "backward: memcpy == 25"}}};
  for (const auto& [file, expected] : traces) {
    SCOPED_TRACE(file);
    RuleChecker trace(std::string("traces/") + file);
    const Names rules = suggest_rules({&trace.models()});
    expect_all_hold(trace, rules);
    for (const std::string& rule : expected) {
      EXPECT_NE(std::find(rules.begin(), rules.end(), rule), rules.end()) << rule;
    }
  }
}

TEST(RulesThatHold, OmitRulesThatDoNotHold) {
  RuleChecker trace("traces/llama_train.json.gz");
  const Names rules = suggest_rules({&trace.models()});
  const auto is_listed = [&](const char* rule) {
    return std::find(rules.begin(), rules.end(), rule) != rules.end();
  };
  EXPECT_TRUE(is_listed("aten::t: gpu_time == 0"));
  EXPECT_FALSE(is_listed("aten::reshape: gpu_time == 0"));  // 108 of them copy
  EXPECT_TRUE(is_listed("backward: no sync"));
  for (const std::string& rule : rules) EXPECT_FALSE(rule.starts_with('#')) << rule;
}

TEST(RulesThatHold, BreakForCompiledRun) {
  RuleChecker eager("traces/mlp_eager.json");
  RuleChecker compiled("traces/mlp_compile.json");
  Names broken;
  for (const std::string& rule : suggest_rules({&eager.models()})) {
    if (rule.starts_with("mlp_fwd") && !compiled.check(rule).ok) broken.push_back(rule);
  }
  EXPECT_EQ(broken, (Names{"mlp_fwd: kernels == 5", "mlp_fwd: pointwise == 2"}));
}

// In this trace cuBLAS queries the occupancy before each of its GEMMs. Pointwise kernels do not.
TEST(ExpectOnA100, FindsGemmsByTheirOccupancyCalls) {
  RuleChecker trace("a100_linear.json");
  expect_all_hold(
      trace, {"mlp_fwd: count /cudaOccupancy/ == 3", "aten::mm: count /cudaOccupancy/ == 1",
              "aten::linear: count /cudaOccupancy/ == 1", "aten::gelu: count /cudaOccupancy/ == 0",
              "aten::gelu: no call /cudaOccupancy/", "aten::mul: no call /cudaOccupancy/",
              "mlp_fwd: has call /cudaOccupancy/", "trace: count /cudaOccupancy/ == 6",
              "mlp_fwd: has call cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"});
  expect_all_broken(
      trace, {"mlp_fwd: count /cudaOccupancy/ == 5", "aten::mm: count /cudaOccupancy/ == 0",
              "aten::gelu: count /cudaOccupancy/ == 1", "aten::gelu: has call /cudaOccupancy/",
              "mlp_fwd: no call /cudaOccupancy/", "mlp_fwd: has op /cudaOccupancy/"});
  const RuleResult broken = trace.check("aten::mm: no call /cudaOccupancy/");
  ASSERT_EQ(broken.broken.size(), 6);
  EXPECT_EQ(trace.names(broken.broken[0].events),
            Names{"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"});
}

TEST(ExpectOnA100, CountsKernelsLaunchesAndTheirTime) {
  RuleChecker trace("a100_linear.json");
  expect_all_hold(trace, {"mlp_fwd: kernels == 5", "mlp_fwd: gemm == 3", "mlp_fwd: pointwise == 2",
                          "mlp_fwd: launches == 5", "mlp_fwd: count /128x128/ == 2",
                          "mlp_fwd: count /128x256/ == 1", "ProfilerStep#2: gpu_time == 650.656us",
                          "mlp_fwd: median gpu_time == 651.536us", "mlp_fwd: bytes == 454557696",
                          "/aten::(t|transpose|as_strided)$/: launches == 0",
                          "mlp_fwd: idle == 78us", "step: no sync", "trace: syncs == 1"});
  expect_all_broken(trace, {"mlp_fwd: launches == 8", "mlp_fwd: has memset", "mlp_fwd: idle < 78us",
                            "ProfilerStep#3: gpu_time == 650.656us", "aten::gelu: gemm == 1"});
}

TEST(ExpectInit, RulesOfSeveralTracesHoldForAll) {
  RuleChecker eager("traces/mlp_eager.json");
  RuleChecker compiled("traces/mlp_compile.json");
  const Names rules = suggest_rules({&eager.models(), &compiled.models()});
  EXPECT_NE(std::find(rules.begin(), rules.end(), "mlp_fwd: gemm == 3"), rules.end());
  EXPECT_EQ(std::find(rules.begin(), rules.end(), "mlp_fwd: kernels == 5"), rules.end());
  expect_all_hold(eager, rules);
  expect_all_hold(compiled, rules);
}

}  // namespace
}  // namespace epi::analysis
