// SPDX-License-Identifier: Apache-2.0
// Checks every measure on the traces in tests/data/traces against values that an independent script
// computed from the JSON in integer nanoseconds. Each value is tested with a rule that holds and
// with rules that are off by one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/analysis/check_rules.h"

namespace epi::analysis {
namespace {

constexpr const char* kCounted[] = {"kernels", "gemm",     "pointwise", "memset",
                                    "memcpy",  "launches", "syncs"};
struct Counts {
  const char* file;
  const char* annotation;
  std::array<int64_t, 7> of_each;  // in the order of kCounted, per step and per annotation
};
const Counts kCounts[] = {
    {"linear_eager.json", "linear_fwd", {1, 1, 0, 0, 0, 1, 0}},
    {"linear_compile.json", "linear_fwd", {1, 1, 0, 0, 0, 1, 0}},
    {"matmul_add_64.json", "matmul_add", {2, 1, 1, 0, 0, 2, 0}},
    {"matmul_add_4096.json", "matmul_add", {2, 1, 1, 1, 0, 3, 0}},
    {"mlp_eager.json", "mlp_fwd", {5, 3, 2, 2, 0, 7, 0}},
    {"mlp_compile.json", "mlp_fwd", {4, 3, 1, 2, 0, 6, 0}},
    {"mlp_cudagraph.json", "mlp_fwd", {5, 3, 1, 2, 0, 2, 0}},  // the fifth is a copy
    {"mlp_liger.json", "mlp_fwd", {4, 3, 1, 2, 0, 6, 0}},
    {"llama_train.json.gz", "train_step", {1535, 256, 843, 60, 25, 1620, 0}},
};

TEST(ExpectTraces, CountsMatchReference) {
  for (const Counts& reference : kCounts) {
    SCOPED_TRACE(reference.file);
    RuleChecker trace(std::string("traces/") + reference.file);
    for (const std::string subject : {"step", reference.annotation}) {
      for (size_t i = 0; i < reference.of_each.size(); ++i) {
        const int64_t count = reference.of_each[i];
        const std::string claim = subject + ": " + kCounted[i];
        const RuleResult right = trace.check(fmt::format("{} == {}", claim, count));
        EXPECT_TRUE(right.ok) << right.rule.text;
        EXPECT_EQ(right.instances, 3);
        const RuleResult wrong = trace.check(fmt::format("{} > {}", claim, count));
        EXPECT_FALSE(wrong.ok) << wrong.rule.text;
        EXPECT_EQ(wrong.found, static_cast<double>(count)) << wrong.rule.text;
        EXPECT_EQ(wrong.broken.size(), 3) << wrong.rule.text;
      }
    }
  }
}

// In matmul_add_4096 and mlp_cudagraph the GPU work ends after its step. The window is then longer
// than the step, and that of the next step starts when the work ends.
struct Times {
  const char* file;
  std::array<int64_t, 3> gpu_ns, cpu_ns, idle_ns;  // of ProfilerStep#2 to #4
  std::array<double, 3> busy;                      // in percent
};
const Times kTimes[] = {
    {"linear_eager.json",
     {2720, 2720, 2720},
     {349462, 101542, 123671},
     {346742, 98822, 120951},
     {0.778, 2.679, 2.199}},
    {"linear_compile.json",
     {2720, 2720, 2688},
     {485196, 455344, 333970},
     {482476, 452624, 331282},
     {0.561, 0.597, 0.805}},
    {"matmul_add_64.json",
     {2815, 2848, 2816},
     {246258, 76266, 67233},
     {243443, 73418, 64417},
     {1.143, 3.734, 4.188}},
    {"matmul_add_4096.json",
     {199647, 193439, 193823},
     {214900, 92212, 71150},
     {143773, 4449, 5280},
     {58.135, 97.752, 97.348}},
    {"mlp_eager.json",
     {233854, 234269, 235549},
     {505662, 337635, 332638},
     {273134, 113304, 122556},
     {46.126, 67.401, 65.776}},
    {"mlp_compile.json",
     {204288, 204896, 201953},
     {769088, 648189, 696975},
     {564800, 443293, 495022},
     {26.562, 31.611, 28.976}},
    {"mlp_cudagraph.json",
     {223133, 222912, 222624},
     {541695, 301689, 272301},
     {440165, 117055, 77600},
     {33.640, 65.569, 74.153}},
    {"mlp_liger.json",
     {209824, 212479, 208990},
     {667998, 480151, 516103},
     {458320, 279920, 313069},
     {31.404, 43.152, 40.032}},
    {"llama_train.json.gz",
     {9920057, 9895916, 9906958},
     {99553185, 101990412, 110901653},
     {89633128, 92094496, 100994695},
     {9.965, 9.703, 8.933}},
};

TEST(ExpectTraces, StepTimesMatchReferenceToTheNanosecond) {
  for (const Times& reference : kTimes) {
    SCOPED_TRACE(reference.file);
    RuleChecker trace(std::string("traces/") + reference.file);
    for (size_t i = 0; i < 3; ++i) {
      const std::string step = fmt::format("ProfilerStep#{}: ", i + 2);
      const std::pair<const char*, int64_t> times[] = {{"gpu_time", reference.gpu_ns[i]},
                                                       {"cpu_time", reference.cpu_ns[i]},
                                                       {"idle", reference.idle_ns[i]}};
      for (const auto& [measure, ns] : times) {
        const std::string claim = step + measure;
        expect_all_hold(trace, {fmt::format("{} == {}ns", claim, ns)});
        expect_all_broken(trace,
                          {fmt::format("{} < {}ns", claim, ns), fmt::format("{} > {}ns", claim, ns),
                           fmt::format("{} == {}ns", claim, ns + 1)});
      }
    }
  }
}

TEST(ExpectTraces, StepSharesMatchReferenceToAThousandth) {
  for (const Times& reference : kTimes) {
    SCOPED_TRACE(reference.file);
    RuleChecker trace(std::string("traces/") + reference.file);
    for (size_t i = 0; i < 3; ++i) {
      const std::string step = fmt::format("ProfilerStep#{}: ", i + 2);
      const double low = reference.busy[i] - 0.001;
      const double high = reference.busy[i] + 0.001;
      expect_all_hold(trace, {fmt::format("{}busy > {:.3f}%", step, low),
                              fmt::format("{}busy < {:.3f}%", step, high),
                              fmt::format("{}idle > {:.3f}%", step, 100 - high),
                              fmt::format("{}idle < {:.3f}%", step, 100 - low)});
      expect_all_broken(trace, {fmt::format("{}busy < {:.3f}%", step, low),
                                fmt::format("{}busy > {:.3f}%", step, high),
                                fmt::format("{}idle < {:.3f}%", step, 100 - high)});
    }
  }
}

// All nine programs synchronize once, after their last step.
TEST(ExpectTraces, FinalSynchronizationBelongsToNoStep) {
  for (const Counts& reference : kCounts) {
    SCOPED_TRACE(reference.file);
    RuleChecker trace(std::string("traces/") + reference.file);
    expect_all_hold(
        trace, {"step: no sync", "step: syncs == 0", "trace: has sync", "trace: syncs == 1",
                "step: no call cudaDeviceSynchronize", "trace: count cudaDeviceSynchronize == 1"});
    expect_all_broken(trace, {"step: has sync", "trace: no sync", "trace: syncs == 0",
                              "trace: no call /Synchronize$/"});
    const RuleResult broken = trace.check("trace: no sync");
    ASSERT_EQ(broken.broken.size(), 1);
    EXPECT_EQ(trace.names(broken.broken[0].events),
              std::vector<std::string>{"cudaDeviceSynchronize"});
  }
}

TEST(ExpectTraces, ViewOperatorsLaunchNothing) {
  const char* views[] = {"aten::t", "aten::transpose", "aten::as_strided", "aten::view",
                         "aten::_unsafe_view"};
  for (const char* file : {"mlp_eager.json", "mlp_liger.json", "llama_train.json.gz"}) {
    SCOPED_TRACE(file);
    RuleChecker trace(std::string("traces/") + file);
    for (const std::string view : views) {
      expect_all_hold(trace, {view + ": gpu_time == 0", view + ": kernels == 0",
                              view + ": launches == 0", view + ": no kernel /./"});
      expect_all_broken(trace, {view + ": gpu_time > 0", view + ": has kernel /./"});
    }
    expect_all_broken(trace, {"aten::mm: gpu_time == 0", "aten::linear: kernels == 0"});
  }
  // A reshape that cannot be a view copies: 108 of 957 do.
  RuleChecker trace("traces/llama_train.json.gz");
  const RuleResult reshape = trace.check("aten::reshape: kernels == 0");
  EXPECT_EQ(reshape.instances, 957);
  EXPECT_EQ(reshape.broken.size(), 108);
}

TEST(ExpectTraces, WholeTraceIsOneInstance) {
  RuleChecker eager("traces/mlp_eager.json");
  expect_all_hold(eager, {"trace: kernels == 15", "trace: memset == 6", "trace: launches == 21",
                          "trace: gpu_time == 703.672us", "trace: count aten::mm == 9"});
  expect_all_broken(eager, {"trace: kernels == 5", "trace: gpu_time > 703.672us"});
  RuleChecker llama("traces/llama_train.json.gz");
  expect_all_hold(llama, {"trace: kernels == 4605", "trace: memcpy == 75", "trace: memset == 180",
                          "trace: gpu_time == 29722931ns"});
  EXPECT_EQ(llama.check("trace: kernels == 1").instances, 1);
}

}  // namespace
}  // namespace epi::analysis
