// SPDX-License-Identifier: Apache-2.0
// Subjects of rules, rules that hold, and the events a broken rule lists. expect_traces_test.cpp
// checks the measures of every trace.
#include "epilogue/analysis/expect/expect.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/analysis/check_rules.h"

namespace epi::analysis {
namespace {

TEST(Expect, AcceptsAnnotationsOperatorsAndRegexes) {
  RuleChecker trace("traces/mlp_eager.json");
  const std::pair<const char*, int64_t> instances[] = {{"step: kernels == 5", 3},
                                                       {"ProfilerStep#3: kernels == 5", 1},
                                                       {"mlp_fwd: kernels == 5", 3},
                                                       {"/mlp/: kernels == 5", 3},
                                                       {"/ProfilerStep/: kernels == 5", 3},
                                                       {"aten::mm: kernels == 1", 9},
                                                       {"aten::gelu: pointwise == 1", 3},
                                                       {"/aten::(gelu|mul)$/: pointwise == 1", 6},
                                                       {"/aten::(t|view)$/: kernels == 0", 18}};
  for (const auto& [rule, count] : instances) {
    const RuleResult result = trace.check(rule);
    EXPECT_TRUE(result.ok) << rule;
    EXPECT_EQ(result.instances, count) << rule;
  }
  expect_all_broken(trace, {"ProfilerStep#3: kernels == 4", "/mlp/: kernels != 5",
                            "/aten::(gelu|mul)$/: kernels == 2", "aten::mm: kernels == 2"});
}

TEST(Expect, IsBrokenByMissingSubject) {
  RuleChecker trace("traces/mlp_eager.json");
  for (const char* rule :
       {"nowhere: kernels == 0", "nowhere: no sync", "/^nowhere$/: median gpu_time < 1s",
        "ProfilerStep#9: kernels == 5", "nowhere: same kernels as traces/mlp_eager.json"}) {
    const RuleResult result = trace.check(rule);
    EXPECT_FALSE(result.ok) << rule;
    EXPECT_EQ(result.instances, 0) << rule;
    EXPECT_FALSE(result.found) << rule;
    EXPECT_EQ(result.note, RuleNote::kNoSubject) << rule;
  }
}

TEST(Expect, FindsEventsInsideEagerMlp) {
  RuleChecker trace("traces/mlp_eager.json");
  expect_all_hold(
      trace,
      {"mlp_fwd: count aten::linear == 3", "mlp_fwd: count aten::t == 3",
       "mlp_fwd: count cudaLaunchKernel == 2", "mlp_fwd: count /^cuLaunchKernelEx$/ == 3",
       "mlp_fwd: count /nvjet_sm90/ == 3", "mlp_fwd: count /vectorized.*<8, / == 2",
       "mlp_fwd: has op aten::t", "mlp_fwd: no op aten::addmm", "mlp_fwd: has call cudaMemsetAsync",
       "mlp_fwd: no call cudaGraphLaunch", "mlp_fwd: has kernel /GeluCUDAKernelImpl/",
       "mlp_fwd: no kernel /triton/", "mlp_fwd: has memset", "mlp_fwd: no memcpy",
       "step: count mlp_fwd == 1", "mlp_fwd: reduction == 0", "aten::linear: count aten::mm == 1"});
  expect_all_broken(trace,
                    {"mlp_fwd: count aten::linear == 4", "mlp_fwd: count /nvjet_sm90/ < 3",
                     "mlp_fwd: no op aten::t", "mlp_fwd: has op aten::addmm",
                     "mlp_fwd: no call cudaMemsetAsync", "mlp_fwd: has call cudaGraphLaunch",
                     "mlp_fwd: no kernel /GeluCUDAKernelImpl/", "mlp_fwd: has kernel /triton/",
                     "mlp_fwd: no memset", "mlp_fwd: has memcpy", "mlp_fwd: count aten::t == 0",
                     // A call is not an operator, and an operator is not a call.
                     "mlp_fwd: has op cudaLaunchKernel", "mlp_fwd: has call aten::mm"});
}

TEST(Expect, FindsLaunchesOfCompiledRegions) {
  RuleChecker compiled("traces/mlp_compile.json");
  expect_all_hold(
      compiled, {"Torch-Compiled Region: 0/0: kernels == 4", "/Region: \\d+\\/\\d+$/: kernels == 4",
                 "mlp_fwd: no op aten::t", "TorchDynamo Cache Lookup: kernels == 0",
                 "mlp_fwd: has kernel triton_poi_fused__unsafe_view_gelu_mul_0",
                 "/Call CompiledFxGraph/: launches == 6"});
  expect_all_broken(compiled, {"Torch-Compiled Region: 0/0: kernels == 5",
                               "mlp_fwd: no kernel /^triton_poi/", "mlp_fwd: has op aten::t"});
  RuleChecker graph("traces/mlp_cudagraph.json");
  expect_all_hold(graph, {"Torch-Compiled Region: 0/0: kernels == 5",
                          "mlp_fwd: count cudaGraphLaunch == 1", "mlp_fwd: no op aten::mm"});
  expect_all_broken(graph, {"mlp_fwd: no call cudaGraphLaunch", "mlp_fwd: pointwise == 2"});
}

TEST(Expect, BackwardOwnsKernelsOfAutogradThread) {
  RuleChecker trace("traces/llama_train.json.gz");
  double events = 0;
  for (const char* measure : {"kernels", "memcpy", "memset"}) {
    const RuleResult all = trace.check(std::string("backward: avg ") + measure + " >= 0");
    EXPECT_EQ(all.instances, 3);
    events += 3 * all.found.value();
  }
  EXPECT_EQ(events, 3225);
  const RuleResult gpu_time = trace.check("backward: avg gpu_time > 0");
  EXPECT_NEAR(3 * gpu_time.found.value(), 18066480, 0.1);
  expect_all_hold(trace,
                  {"backward: kernels == 1003", "backward: memcpy == 25", "backward: memset == 47",
                   "backward: count aten::mm == 170", "backward: count /cudaOccupancy/ == 2",
                   "forward: kernels == 508", "forward: memset == 13", "optimizer: kernels == 24",
                   "backward: has memcpy", "forward: no memcpy", "aten::sum: reduction == 1",
                   "MmBackward0: count aten::mm == 2"});
  expect_all_broken(trace, {"backward: kernels == 0", "backward: no memcpy",
                            "optimizer: has memcpy", "forward: has call /cudaOccupancy/",
                            "aten::mm: kernels == 1", "aten::sum: reduction == 0"});
}

TEST(Expect, SupportsEachAnyAvgAndMedian) {
  RuleChecker trace("traces/mlp_eager.json");  // 233.854, 234.269 and 235.549 us
  expect_all_hold(trace, {"step: gpu_time < 236us", "step: each gpu_time < 236us",
                          "step: any gpu_time < 234us", "step: avg gpu_time < 234.558us",
                          "step: avg gpu_time > 234.557us", "step: median gpu_time == 234269ns"});
  expect_all_broken(
      trace, {"step: gpu_time < 235us", "step: each gpu_time < 235us", "step: any gpu_time < 233us",
              "step: avg gpu_time < 234.5us", "step: median gpu_time < 234us"});
  const RuleResult each = trace.check("step: gpu_time < 234us");
  ASSERT_EQ(each.broken.size(), 2);
  EXPECT_EQ(each.broken[0].instance, "ProfilerStep#3");
  EXPECT_EQ(each.broken[1].instance, "ProfilerStep#4");
  EXPECT_EQ(each.broken[1].found, 235549);
  EXPECT_EQ(each.found_min, 233854);
  EXPECT_EQ(each.found_max, 235549);
  const RuleResult median = trace.check("step: median gpu_time < 234us");
  ASSERT_EQ(median.broken.size(), 1);
  EXPECT_EQ(median.broken[0].instance, "");
  EXPECT_EQ(median.found, 234269);
}

TEST(Expect, ListsEventsThatBreakARule) {
  RuleChecker trace("traces/mlp_eager.json");
  const auto first = [&](const char* rule) {
    const RuleResult result = trace.check(rule);
    return result.broken.empty() ? Names{} : trace.names(result.broken[0].events);
  };
  const std::string gate = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT";
  const std::string down = "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT";
  EXPECT_EQ(first("mlp_fwd: gemm == 2"), (Names{gate, gate, down}));
  EXPECT_EQ(first("mlp_fwd: no memset"), (Names{"Memset (Device)", "Memset (Device)"}));
  EXPECT_EQ(first("mlp_fwd: no op aten::t"), (Names{"aten::t", "aten::t", "aten::t"}));
  EXPECT_EQ(first("mlp_fwd: no kernel /coopB/"), Names{down});
  EXPECT_EQ(first("mlp_fwd: launches < 7").size(), 7);
  EXPECT_EQ(first("mlp_fwd: has kernel /triton/"), Names{});
  // The longest first: 56.192, 55.712, 51.519 us.
  const Names longest = first("ProfilerStep#2: gpu_time < 1us");
  ASSERT_EQ(longest.size(), 5);
  EXPECT_EQ(Names(longest.begin(), longest.begin() + 3), (Names{gate, gate, down}));
}

TEST(Expect, LowerBoundCannotProveAnUpperLimit) {
  // Three GEMMs of 8192 x 768 x 3072, gelu and mul in bf16, and two memsets of 4 bytes.
  RuleChecker eager("traces/mlp_eager.json");
  expect_all_hold(eager, {"mlp_fwd: bytes == 454557704", "mlp_fwd: bytes < 455MB",
                          "aten::gelu: bytes == 100663296", "aten::t: bytes == 0"});
  expect_all_broken(eager, {"mlp_fwd: bytes < 454MB", "aten::gelu: bytes > 101MB"});
  // The launch record of a Triton kernel does not show which of its two buffers it writes.
  RuleChecker compiled("traces/mlp_compile.json");
  expect_all_hold(compiled, {"mlp_fwd: bytes >= 303562760", "mlp_fwd: bytes > 303MB",
                             "aten::mm: bytes < 68MB"});
  expect_all_broken(compiled, {"mlp_fwd: bytes < 1GB", "mlp_fwd: bytes <= 303562760",
                               "mlp_fwd: bytes == 303562760", "mlp_fwd: median bytes < 1GB",
                               "mlp_fwd: bytes != 400MB"});
  expect_all_hold(compiled, {"mlp_fwd: bytes != 5"});
  EXPECT_EQ(compiled.check("mlp_fwd: bytes < 1GB").note, RuleNote::kLowerBound);
  EXPECT_EQ(compiled.check("mlp_fwd: bytes > 1GB").note, RuleNote::kNone);
}

TEST(Expect, ComparesTimesToTheNanosecondInAnyUnit) {
  RuleChecker liger("traces/mlp_liger.json");
  expect_all_hold(
      liger, {"ProfilerStep#4: cpu_time == 516.103us", "ProfilerStep#4: cpu_time == 516.103",
              "ProfilerStep#4: cpu_time <= 0.516103ms", "ProfilerStep#4: cpu_time == 516103ns"});
  expect_all_broken(liger, {"ProfilerStep#4: cpu_time == 516.104us"});
}

TEST(Expect, BoundsTheTimeOfRegexMatching) {
  RuleChecker eager("traces/mlp_eager.json");
  EXPECT_FALSE(eager.check("/^((a|t|e|n|:)*)*!$/: kernels == 0").ok);
}

TEST(Expect, CountsGpuEventsByName) {
  RuleChecker eager("traces/mlp_eager.json");
  expect_all_hold(eager, {"mlp_fwd: count Memset (Device) == 2", "mlp_fwd: count /nvjet/ == 3"});
  expect_all_broken(eager, {"mlp_fwd: has op mlp_fwd", "step: has op mlp_fwd"});
}

TEST(Expect, ComparesKernelsWithAnotherTrace) {
  RuleChecker eager("traces/mlp_eager.json");
  expect_all_hold(eager, {"mlp_fwd: same kernels as traces/mlp_eager.json",
                          "step: same kernels as traces/mlp_eager.json"});
  const RuleResult fused = eager.check("mlp_fwd: same kernels as traces/mlp_compile.json");
  EXPECT_FALSE(fused.ok);
  ASSERT_EQ(fused.broken.size(), 3);
  EXPECT_EQ(fused.note, RuleNote::kMissingKernels);
  EXPECT_EQ(fused.missing, std::vector<std::string>{"triton_poi_fused__unsafe_view_gelu_mul_0"});
  const Names only_eager = eager.names(fused.broken[0].events);
  ASSERT_EQ(only_eager.size(), 2);
  EXPECT_NE(only_eager[0].find("GeluCUDAKernelImpl"), std::string::npos);
  EXPECT_NE(only_eager[1].find("MulFunctor"), std::string::npos);
  RuleChecker compiled("traces/linear_compile.json");
  expect_all_hold(compiled, {"linear_fwd: same kernels as traces/linear_eager.json"});
  const RuleResult other = compiled.check("linear_fwd: same kernels as traces/mlp_eager.json");
  EXPECT_FALSE(other.ok);
  EXPECT_EQ(other.note, RuleNote::kNoOtherSubject);
}

}  // namespace
}  // namespace epi::analysis
