// SPDX-License-Identifier: Apache-2.0
// Comparing two traces: which kernels are the same, fused, changed, added or gone.
#include "epilogue/analysis/compare/compare.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/report/compare/compare_report.h"
#include "tests/analysis/modeled_trace.h"
#include "tests/trace/trace_builder.h"

namespace epi::analysis {
namespace {

using trace::TraceBuilder;
using Names = std::vector<std::string>;

GroupComparison compare_files(const std::string& a, const std::string& b, const char* under) {
  const ModeledTrace left(a);
  const ModeledTrace right(b);
  return compare(left.models, right.models, under).groups.at(0);
}

int64_t total(const std::vector<NamedCount>& list) {
  int64_t sum = 0;
  for (const NamedCount& entry : list) sum += entry.count;
  return sum;
}

Names names_of(const std::vector<HostChange>& changes) {
  Names names;
  for (const HostChange& change : changes) names.push_back(change.name);
  return names;
}

TEST(Compare, CompiledLinearKeepsItsKernelAndAddsCpuTime) {
  const auto group =
      compare_files("traces/linear_eager.json", "traces/linear_compile.json", "linear_fwd");
  EXPECT_TRUE(group.same_gpu_work());
  ASSERT_EQ(group.same.size(), 1U);
  EXPECT_EQ(group.same[0].name, "nvjet_sm90_tst_64x8_64x16_1x2_h_bz_bias_TNT");
  EXPECT_GT(group.b.median.cpu_ns, 4 * group.a.median.cpu_ns);
  EXPECT_EQ(names_of(group.host_gone),
            (Names{"aten::linear", "aten::t", "aten::transpose", "aten::as_strided"}));
}

// The sum of kernel times grows by 20 us, but the second kernel starts before the first one ends.
TEST(Compare, CountsOverlappingKernelsOnce) {
  const ModeledTrace one_after_another(
      TraceBuilder().kernel("first", 0, 100, 60).kernel("second", 10, 160, 40).trace());
  const ModeledTrace overlapping(
      TraceBuilder().kernel("first", 0, 100, 60).kernel("second", 10, 120, 60).trace());
  const Comparison comparison = compare(one_after_another.models, overlapping.models, {});
  const GroupComparison& group = comparison.groups.at(0);
  EXPECT_TRUE(group.overlaps());
  EXPECT_EQ(group.b.median.gpu_ns, 120e3);
  EXPECT_EQ(group.b.median.busy_ns, 80e3);
  EXPECT_NE(report::verdict_text(comparison).find("GPU busy time 100.0 us -> 80.00 us (-20 %)"),
            std::string::npos)
      << report::verdict_text(comparison);
  EXPECT_FALSE(
      compare(one_after_another.models, one_after_another.models, {}).groups[0].overlaps());
}

TEST(Compare, CompiledMlpKeepsGemmsAndFusesTheRest) {
  const auto group = compare_files("traces/mlp_eager.json", "traces/mlp_compile.json", "mlp_fwd");
  EXPECT_FALSE(group.same_gpu_work());
  EXPECT_EQ(total(group.same), 5);  // three GEMMs, two memsets
  ASSERT_EQ(group.fused.size(), 1U);
  EXPECT_EQ(group.fused[0].ops, (Names{"gelu", "mul"}));
  EXPECT_EQ(group.fused[0].kernel, "triton_poi_fused__unsafe_view_gelu_mul_0");
  EXPECT_TRUE(group.added.empty() && group.gone.empty() && group.changed.empty());
  // Each of the three GEMMs moves x, a weight and a hidden tensor of 50 MB. gelu reads and writes
  // one hidden tensor, mul reads two and writes one.
  const double hidden = 8192.0 * 3072 * 2;
  const double weight = 768.0 * 3072 * 2;
  const double x = 8192.0 * 768 * 2;
  EXPECT_EQ(group.a.bytes->bytes, 3 * (x + weight + hidden) + 5 * hidden + 8);
  EXPECT_FALSE(group.a.bytes->at_least);
  EXPECT_EQ(group.b.bytes->bytes, 3 * (x + weight + hidden) + 2 * hidden + 8);
  EXPECT_TRUE(group.b.bytes->at_least);
}

TEST(Compare, ReversedComparisonListsUnfusedKernels) {
  const auto group = compare_files("traces/mlp_compile.json", "traces/mlp_eager.json", "mlp_fwd");
  EXPECT_TRUE(group.fused.empty());
  ASSERT_EQ(group.unfused.size(), 1U);
  EXPECT_EQ(group.unfused[0].ops, (Names{"gelu", "mul"}));
}

// The name of a generated kernel contains the operator that the program called, relu. ATen runs it
// as clamp_min.
TEST(Compare, MatchesFusedRelu) {
  const auto group = compare_files("pairs/reglu_16384x1024x2816.eager.json.gz",
                                   "pairs/reglu_16384x1024x2816.compiled.json.gz", "forward");
  ASSERT_EQ(group.fused.size(), 1U);
  EXPECT_EQ(group.fused[0].ops, (Names{"mul", "relu"}));
  EXPECT_TRUE(group.gone.empty());
}

TEST(Compare, MatchesHandWrittenFusedKernel) {
  const auto group = compare_files("traces/mlp_eager.json", "traces/mlp_liger.json", "mlp_fwd");
  ASSERT_EQ(group.fused.size(), 1U);
  EXPECT_EQ(group.fused[0].kernel, "_geglu_tanh_forward_kernel");
}

TEST(Compare, TraceEqualsItself) {
  const ModeledTrace made("traces/llama_train.json.gz");
  const Comparison comparison = compare(made.models, made.models, std::nullopt);
  EXPECT_TRUE(comparison.same_gpu_work());
  EXPECT_GT(comparison.groups.size(), 3U);
  EXPECT_EQ(total(comparison.groups[0].same), 1535 + 25 + 60);
  EXPECT_TRUE(comparison.groups[0].host_gone.empty());
}

int64_t total_changed(const GroupComparison& group) {
  int64_t sum = 0;
  for (const ChangedKernel& change : group.changed) sum += change.count;
  return sum;
}

// The number of fused kernels, and the number of kernels they replace.
std::pair<int64_t, int64_t> totals(const std::vector<Fusion>& fusions) {
  std::pair<int64_t, int64_t> sums;
  for (const Fusion& fusion : fusions) {
    sums.first += fusion.count;
    sums.second += fusion.replaced;
  }
  return sums;
}

TEST(Compare, ListsEveryGpuEventExactlyOnce) {
  const Names files = {"traces/mlp_eager.json",          "traces/mlp_compile.json",
                       "traces/llama_train.json.gz",     "pytorch/train.json.gz",
                       "pytorch/train_compiled.json.gz", "pytorch/misc.json.gz"};
  for (const std::string& a_file : files) {
    for (const std::string& b_file : files) {
      const auto group = compare_files(a_file, b_file, "trace");
      const auto fused = totals(group.fused);
      const auto unfused = totals(group.unfused);
      const int64_t common = total(group.same) + total(group.resized) + total_changed(group);
      const auto work = [](const Side& side) {
        return side.median.kernels + side.median.memcpys + side.median.memsets;
      };
      EXPECT_EQ(common + total(group.gone) + fused.second + unfused.first, work(group.a)) << a_file;
      EXPECT_EQ(common + total(group.added) + fused.first + unfused.second, work(group.b))
          << b_file;
    }
  }
}

TEST(Compare, GemmOfAnotherOperatorIsChangedNotFused) {
  const auto group =
      compare_files("pytorch/train.json.gz", "pytorch/train_compiled.json.gz", "trace");
  for (const Fusion& fusion : group.fused) {
    EXPECT_EQ(std::count(fusion.ops.begin(), fusion.ops.end(), "addmm"), 0) << fusion.kernel;
    EXPECT_EQ(std::count(fusion.ops.begin(), fusion.ops.end(), "mm"), 0) << fusion.kernel;
  }
}

// A step with a GEMM and a data loader annotation, which launches nothing.
trace::Trace with_loader(const char* kernel) {
  return TraceBuilder()
      .step(1, 0, 1000)
      .annotation("enumerate(DataLoader)#__next__", 10, 20)
      .op("aten::mm", 100, 500, {.external_id = 1})
      .unlaunched(kernel, 300, 50, {.external_id = 1})
      .trace();
}

TEST(Compare, VerdictIsAboutStepsIfAnnotationsOwnNoWork) {
  const ModeledTrace a(with_loader("k"));
  const ModeledTrace b(with_loader("other"));
  const Comparison comparison = compare(a.models, b.models, std::nullopt);
  ASSERT_EQ(comparison.groups.size(), 2U);
  EXPECT_EQ(comparison.groups[comparison.main_group].name, "ProfilerStep*");
  EXPECT_EQ(comparison.steps, comparison.main_group);
}

TEST(Compare, ThrowsForUnknownSubject) {
  const ModeledTrace made("traces/mlp_eager.json");
  EXPECT_THROW(compare(made.models, made.models, "mlp"), Error);
}

// One GEMM of m x 64 x 32 in one annotation, launched over `grid`.
trace::Trace gemm(int64_t m, const char* kernel, const char* grid) {
  const std::string dims = "[[" + std::to_string(m) + ", 32], [32, 64]]";
  return TraceBuilder()
      .annotation("fwd", 0, 1000)
      .op("aten::mm", 100, 500,
          {.external_id = 1,
           .args = R"({"Input Dims": )" + dims + R"(, "Input type": ["float", "float"]})"})
      .unlaunched(kernel, 300, 50,
                  {.args = std::string(R"({"grid": )") + grid + R"(, "block": [128, 1, 1]})",
                   .external_id = 1})
      .trace();
}

GroupComparison compare_gemms(trace::Trace a, trace::Trace b) {
  const ModeledTrace left(std::move(a));
  const ModeledTrace right(std::move(b));
  return compare(left.models, right.models, "fwd").groups.at(0);
}

TEST(Compare, DifferentBatchOnSameGridIsResized) {
  const auto group =
      compare_gemms(gemm(64, "nvjet_sm90_tst_64x8_64x16_1x2_h_bz_TNT", "[2, 66, 1]"),
                    gemm(128, "nvjet_sm90_tst_64x8_64x16_1x2_h_bz_TNT", "[2, 66, 1]"));
  EXPECT_TRUE(group.same.empty());
  EXPECT_EQ(total(group.resized), 1);
}

TEST(Compare, DifferentGridIsResized) {
  const auto group = compare_gemms(gemm(64, "k", "[2, 1, 1]"), gemm(64, "k", "[4, 1, 1]"));
  EXPECT_EQ(total(group.resized), 1);
}

TEST(Compare, ListsPropertiesOfAChangedKernel) {
  const auto group = compare_gemms(
      gemm(64, "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", "[1, 1, 1]"),
      gemm(64, "ampere_fp16_s16816gemm_fp16_128x256_ldg8_f2f_stages_32x5_nn", "[1, 1, 1]"));
  ASSERT_EQ(group.changed.size(), 1U);
  EXPECT_EQ(group.changed[0].op, "aten::mm");
  EXPECT_EQ(group.changed[0].differs, (Names{"dtype", "output", "layout", "tile"}));
}

TEST(Compare, MatchesKernelsThatFuseTheSameOperators) {
  const auto trace_with = [](const char* kernel) {
    return TraceBuilder()
        .step(2, 0, 1000)
        .op(kernel, 100, 100, {.external_id = 1})
        .unlaunched(kernel, 300, 50, {.external_id = 1})
        .trace();
  };
  const ModeledTrace a(trace_with("triton_poi_fused__unsafe_view_gelu_mul_0"));
  for (const char* other : {"epi_poi_fused_gelu_mul_3", "epi_pkg_gelu_tanh_and_mul_bf16"}) {
    const ModeledTrace b(trace_with(other));
    const Comparison comparison = compare(a.models, b.models, std::nullopt);
    const GroupComparison& group = comparison.groups.at(0);
    ASSERT_EQ(group.changed.size(), 1U) << other;
    EXPECT_EQ(group.changed[0].op, "gelu, mul");
    EXPECT_TRUE(group.gone.empty() && group.added.empty()) << other;
  }
  const ModeledTrace c(trace_with("epi_poi_fused_mul_silu_0"));
  EXPECT_TRUE(compare(a.models, c.models, std::nullopt).groups.at(0).changed.empty());
}

TEST(Compare, ComparesTracesWithDifferentStepCounts) {
  TraceBuilder one;
  one.step(2, 0, 1000)
      .op("aten::mul", 100, 100, {.external_id = 1})
      .unlaunched("k", 300, 50, {.external_id = 1});
  TraceBuilder two;
  for (int64_t i = 0; i < 2; ++i) {
    two.step(5 + i, 1000 * i, 1000)
        .op("aten::mul", 1000 * i + 100, 100, {.external_id = 2 + i})
        .unlaunched("k", 1000 * i + 300, 50, {.external_id = 2 + i});
  }
  const ModeledTrace a(one.trace());
  const ModeledTrace b(two.trace());
  const Comparison comparison = compare(a.models, b.models, std::nullopt);
  EXPECT_TRUE(comparison.same_gpu_work());
  EXPECT_EQ(comparison.groups.at(0).b.instances, 2);
  EXPECT_TRUE(comparison.groups.at(0).host_added.empty());
}

}  // namespace
}  // namespace epi::analysis
