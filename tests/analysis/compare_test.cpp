// SPDX-License-Identifier: Apache-2.0
// Comparing two traces: which kernels are the same, fused, changed, added or gone.
#include "epilogue/analysis/compare/compare.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/report/compare_report.h"
#include "tests/analysis/synthetic_trace.h"
#include "tests/analysis/test_data.h"
#include "tests/trace/make_trace.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::TraceMaker;
using Names = std::vector<std::string>;

GroupComparison compare_files(const std::string& a, const std::string& b, const char* under) {
  const trace::Trace left = read_data(a);
  const trace::Trace right = read_data(b);
  return compare(TraceIndex(left), TraceIndex(right), under).groups.at(0);
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
  const auto one_after_another =
      SyntheticTrace().kernel("first", 0, 100, 60).kernel("second", 10, 160, 40).trace();
  const auto overlapping =
      SyntheticTrace().kernel("first", 0, 100, 60).kernel("second", 10, 120, 60).trace();
  const Comparison comparison = compare(TraceIndex(one_after_another), TraceIndex(overlapping), {});
  const GroupComparison& group = comparison.groups.at(0);
  EXPECT_TRUE(group.overlaps());
  EXPECT_EQ(group.b.median.device_ns, 120e3);
  EXPECT_EQ(group.b.median.busy_ns, 80e3);
  EXPECT_NE(report::verdict_text(comparison).find("GPU busy time 100.0 us -> 80.00 us (-20 %)"),
            std::string::npos)
      << report::verdict_text(comparison);
  EXPECT_FALSE(compare(TraceIndex(one_after_another), TraceIndex(one_after_another), {})
                   .groups[0]
                   .overlaps());
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
  const trace::Trace trace = read_data("traces/llama_train.json.gz");
  const Comparison comparison = compare(TraceIndex(trace), TraceIndex(trace), std::nullopt);
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
      const trace::Trace a = read_data(a_file);
      const trace::Trace b = read_data(b_file);
      const auto group = compare(TraceIndex(a), TraceIndex(b), "trace").groups.at(0);
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
  TraceMaker maker;
  maker.add(Category::kUserAnnotation, "ProfilerStep#1", 0, 1000);
  maker.add(Category::kUserAnnotation, "enumerate(DataLoader)#__next__", 10, 20);
  maker.op("aten::mm", 100, 500, 1);
  maker.kernel(kernel, 300, 50, 1);
  return maker.take();
}

TEST(Compare, VerdictIsAboutStepsIfAnnotationsOwnNoWork) {
  const trace::Trace a = with_loader("k");
  const trace::Trace b = with_loader("other");
  const Comparison comparison = compare(TraceIndex(a), TraceIndex(b), std::nullopt);
  ASSERT_EQ(comparison.groups.size(), 2U);
  EXPECT_EQ(comparison.groups[comparison.main_group].name, "ProfilerStep*");
  EXPECT_EQ(comparison.steps, comparison.main_group);
}

TEST(Compare, ThrowsForUnknownSubject) {
  const trace::Trace trace = read_data("traces/mlp_eager.json");
  EXPECT_THROW(compare(TraceIndex(trace), TraceIndex(trace), "mlp"), Error);
}

// One GEMM of m x 64 x 32 in one annotation, launched over `grid`.
trace::Trace gemm(int64_t m, const char* kernel, const char* grid) {
  TraceMaker maker;
  maker.add(Category::kUserAnnotation, "fwd", 0, 1000);
  maker.op("aten::mm", 100, 500, 1,
           "{\"Input Dims\": [[" + std::to_string(m) +
               ", 32], [32, 64]], \"Input type\": [\"float\", \"float\"]}");
  maker.add(Category::kKernel, kernel, 300, 50, 1,
            std::string("{\"grid\": ") + grid + ", \"block\": [128, 1, 1]}", {0, 7});
  return maker.take();
}

GroupComparison compare_gemms(const trace::Trace& a, const trace::Trace& b) {
  return compare(TraceIndex(a), TraceIndex(b), "fwd").groups.at(0);
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
    TraceMaker maker;
    maker.add(Category::kUserAnnotation, "ProfilerStep#2", 0, 1000);
    maker.op(kernel, 100, 100, 1);
    maker.kernel(kernel, 300, 50, 1);
    return maker.take();
  };
  const trace::Trace a = trace_with("triton_poi_fused__unsafe_view_gelu_mul_0");
  for (const char* other : {"epi_poi_fused_gelu_mul_3", "epi_pkg_gelu_tanh_and_mul_bf16"}) {
    const trace::Trace b = trace_with(other);
    const Comparison comparison = compare(TraceIndex(a), TraceIndex(b), std::nullopt);
    const GroupComparison& group = comparison.groups.at(0);
    ASSERT_EQ(group.changed.size(), 1U) << other;
    EXPECT_EQ(group.changed[0].op, "gelu, mul");
    EXPECT_TRUE(group.gone.empty() && group.added.empty()) << other;
  }
  const trace::Trace c = trace_with("epi_poi_fused_mul_silu_0");
  EXPECT_TRUE(compare(TraceIndex(a), TraceIndex(c), std::nullopt).groups.at(0).changed.empty());
}

TEST(Compare, ComparesTracesWithDifferentStepCounts) {
  TraceMaker one;
  one.add(Category::kUserAnnotation, "ProfilerStep#2", 0, 1000);
  one.op("aten::mul", 100, 100, 1);
  one.kernel("k", 300, 50, 1);
  TraceMaker two;
  for (int64_t step = 0; step < 2; ++step) {
    two.add(Category::kUserAnnotation, step == 0 ? "ProfilerStep#5" : "ProfilerStep#6", 1000 * step,
            1000);
    two.op("aten::mul", 1000 * step + 100, 100, 2 + step);
    two.kernel("k", 1000 * step + 300, 50, 2 + step);
  }
  const trace::Trace a = one.take();
  const trace::Trace b = two.take();
  const Comparison comparison = compare(TraceIndex(a), TraceIndex(b), std::nullopt);
  EXPECT_TRUE(comparison.same_gpu_work());
  EXPECT_EQ(comparison.groups.at(0).b.instances, 2);
  EXPECT_TRUE(comparison.groups.at(0).host_added.empty());
}

}  // namespace
}  // namespace epi::analysis
