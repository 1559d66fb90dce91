// SPDX-License-Identifier: Apache-2.0
// Compares advice with measured savings: pairs of recorded traces, eager and compiled. Synthetic
// traces cover advice that can be computed by hand.
#include "epilogue/analysis/advise/advice_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "epilogue/base/error.h"
#include "tests/analysis/modeled_trace.h"
#include "tests/trace/trace_builder.h"

namespace epi::analysis {
namespace {

// A trace with the advice on it.
struct TraceAdvice {
  explicit TraceAdvice(trace::Trace trace, const std::optional<std::string>& under = {})
      : made(std::move(trace)), report(advise(made.models, under)) {}
  const AdviceReport* operator->() const { return &report; }

  ModeledTrace made;
  AdviceReport report;
};

TraceAdvice advise_data(const std::string& name, const std::optional<std::string>& under = {}) {
  return TraceAdvice(read_data(name), under);
}

AdviceCheck check_pair(const std::string& before, const std::string& after) {
  const ModeledTrace a(before);
  const ModeledTrace b(after);
  return check_advice(a.models, b.models, {});
}

const Advice* find(const TraceAdvice& advised, AdviceKind kind) {
  const auto& advice = advised->advice;
  const auto found = std::find_if(advice.begin(), advice.end(),
                                  [&](const Advice& one) { return one.kind == kind; });
  return found == advice.end() ? nullptr : &*found;
}

// Maximum relative error of an estimate: accurate enough to decide by, and above clock drift.
constexpr double kMaxError = 0.25;

TEST(Advise, PredictsSavingOfCompiledMlp) {
  const TraceAdvice report = advise_data("traces/mlp_eager.json");
  // The trace is host-bound. Saving GPU time shortens the step only without a profiler.
  EXPECT_EQ(report->verdict, Verdict::kMaybe);
  EXPECT_EQ(report->fusion.kernels_after, 4);
  // The two traces differ by (703672 - 611137) / 3 ns of device time per forward.
  EXPECT_NEAR(report->fusion.saving_ns.likely, 30845, kMaxError * 30845);
  ASSERT_EQ(report->fusion.groups.size(), 1U);
  EXPECT_EQ(report->fusion.groups[0].ops, (std::vector<std::string>{"gelu", "mul"}));
  // The fused kernel reads two bf16 tensors of [8192, 3072] and writes one. The result of gelu is
  // neither read nor written.
  constexpr double kTensor = 8192.0 * 3072 * 2;
  EXPECT_EQ(report->fusion.groups[0].eager_bytes, 5 * kTensor);
  EXPECT_EQ(report->fusion.groups[0].fused_bytes, 3 * kTensor);
}

TEST(Advise, FindsNothingToFuseInLinear) {
  const TraceAdvice report = advise_data("traces/linear_eager.json");
  EXPECT_EQ(report->verdict, Verdict::kNo);
  EXPECT_TRUE(report->fusion.groups.empty());
  EXPECT_EQ(report->reason, Reason::kDispatchLoss);
  EXPECT_EQ(find(report, AdviceKind::kFuse), nullptr);
}

TEST(Advise, FindsHostAndComputeBounds) {
  const TraceAdvice small = advise_data("traces/matmul_add_64.json");
  EXPECT_TRUE(small->cpu_is_limit());
  EXPECT_EQ(small->diagnosis->bound(), Bound::kDispatch);
  EXPECT_NE(find(small, AdviceKind::kGraph), nullptr);
  EXPECT_NE(find(small, AdviceKind::kBatch), nullptr);
  const TraceAdvice large = advise_data("traces/matmul_add_4096.json");
  EXPECT_FALSE(large->cpu_is_limit());
  EXPECT_EQ(large->diagnosis->bound(), Bound::kCompute);
  EXPECT_EQ(large->verdict, Verdict::kNo);  // `addmm` adds a full matrix, so little is saved
}

// One kernel replaces two: the add moves into the GEMM's epilogue.
TEST(Advise, AdvisesAddmmForMatmulAndAdd) {
  const TraceAdvice report = advise_data("traces/matmul_add_4096.json");
  const Advice* found = find(report, AdviceKind::kAddmm);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->about, std::vector<std::string>{"4096x4096x4096"});
  EXPECT_EQ(report->fusion.kernels_after, 1);
  // The saving never exceeds the duration of the add.
  EXPECT_LE(found->removes_ns.high, found->terms[1].value);
  EXPECT_GT(found->removes_ns.likely, 0);
}

TEST(Advise, DoesNotAdviseCompilingACompiledRun) {
  for (const char* name : {"traces/mlp_compile.json", "traces/linear_compile.json"}) {
    const TraceAdvice report = advise_data(name);
    EXPECT_EQ(report->verdict, Verdict::kNo) << name;
    EXPECT_EQ(report->reason, Reason::kCompiled) << name;
    EXPECT_TRUE(report->fusion.groups.empty()) << name;
    EXPECT_NE(find(report, AdviceKind::kGuards), nullptr) << name;
  }
}

// Recorded on an H200 with tests/data/pairs/record.py.
class Pairs : public testing::TestWithParam<const char*> {};

TEST_P(Pairs, SavingIsPredicted) {
  const std::string name = fmt::format("pairs/{}", GetParam());
  const AdviceCheck check = check_pair(name + ".eager.json.gz", name + ".compiled.json.gz");
  EXPECT_GT(check.gpu.actual_ns(), 0);
  EXPECT_LT(std::abs(check.gpu.error().value_or(1)), kMaxError)
      << "predicted " << check.gpu.saving_ns.likely << ", measured " << check.gpu.actual_ns();
}

INSTANTIATE_TEST_SUITE_P(
    , Pairs,
    testing::Values("bert_block_16x512x1024", "geglu_train_8192x768x3072", "gpt_block_16x1024x768",
                    "layer_norm_32768x2048", "layer_norm_8192x1024", "llama_block_2x2048x4096",
                    "llama_block_8x1024x2048", "plain_attention_8x512x1024", "post_norm_16384x1024",
                    "rms_norm_2048x8192", "rms_norm_8192x4096", "small_gpt_16x512",
                    "small_llama_16x512", "squared_relu_8192x1024x4096", "swiglu_4096x2048x5632",
                    "swiglu_512x4096x14336", "swiglu_8192x2048x8192"),
    [](const auto& pair) { return std::string(pair.param); });

// In these pairs the compiler's autotuning chose a slow kernel. In another recording of the same
// model it did not, see docs/advise.md. The kernel count is predicted exactly, the saving only as
// an upper bound.
TEST(Advise, PredictsKernelCountsOfSlowCompiledRuns) {
  for (const char* name : {"geglu_2048x2048x8192", "geglu_3000x1000x2730", "geglu_8192x768x3072",
                           "geglu_erf_8192x1024x2736", "reglu_16384x1024x2816",
                           "gpt_block_4x2048x1600", "mlp_8192x1024x4096"}) {
    const std::string path = fmt::format("pairs/{}", name);
    const AdviceCheck check = check_pair(path + ".eager.json.gz", path + ".compiled.json.gz");
    EXPECT_EQ(check.kernels_predicted, check.kernels_after) << name;
    EXPECT_LE(check.gpu.actual_ns(), check.gpu.saving_ns.high) << name;
  }
}

TEST(Advise, DoesNotAdviseMixedPrecisionIfInUse) {
  for (const char* name :
       {"traces/mlp_eager.json", "traces/llama_train.json.gz",
        "pairs/small_gpt_16x512.eager.json.gz", "pairs/geglu_3000x1000x2730.eager.json.gz",
        "traces/matmul_add_4096.json"}) {
    EXPECT_EQ(find(advise_data(name), AdviceKind::kTensorCores), nullptr) << name;
  }
}

TEST(Advise, FindsMisalignedGemmSizes) {
  const TraceAdvice report = advise_data("pairs/geglu_3000x1000x2730.eager.json.gz");
  const Advice* found = find(report, AdviceKind::kAlignment);
  ASSERT_NE(found, nullptr);
  // Two GEMMs of 2 * 3000 * 2730 * 1000 FLOP at 60 % of 989.5 TFLOP/s.
  const double now_ns = found->terms[1].value;
  EXPECT_NEAR(found->removes_ns.likely, now_ns - 2 * 16.38e9 / (989.5e3 * 0.6), 1);
}

TEST(Advise, FindsSynchronizingOperators) {
  const TraceAdvice report = advise_data("pytorch/misc.json.gz");
  std::vector<std::string> about;
  for (const Advice& advice : report->advice) {
    if (advice.kind == AdviceKind::kSync) about.push_back(advice.about.at(0));
  }
  EXPECT_NE(std::find(about.begin(), about.end(), "aten::nonzero"), about.end());
  EXPECT_NE(std::find(about.begin(), about.end(), "aten::_local_scalar_dense"), about.end());
}

TEST(Advise, RangesContainTheLikelyEstimate) {
  for (const char* name :
       {"traces/mlp_eager.json", "traces/llama_train.json.gz", "traces/mlp_liger.json",
        "pytorch/misc.json.gz", "pytorch/streams.json.gz", "pytorch/train_compiled.json.gz",
        "pytorch/train_gpu_only.json.gz", "pytorch/graph.json.gz", "pytorch/train_cpu.json.gz",
        "pairs/small_llama_16x512.eager.json.gz"}) {
    const TraceAdvice report = advise_data(name);
    for (const Advice& advice : report->advice) {
      EXPECT_LE(advice.saving_ns.low, advice.saving_ns.likely) << name;
      EXPECT_LE(advice.saving_ns.likely, advice.saving_ns.high) << name;
      EXPECT_FALSE(advice.terms.empty()) << name;
    }
  }
}

TEST(Advise, ThrowsForUnknownSubject) {
  EXPECT_THROW(advise_data("traces/mlp_eager.json", "nothing"), Error);
  EXPECT_EQ(advise_data("traces/mlp_eager.json", "mlp_fwd")->fusion.kernels_after, 4);
}

struct OpWithKernel {
  const char* name;
  const char* args;
  const char* kernel;
  int64_t kernel_us;
};

// Operators that launch one kernel each, on one thread and one stream of an H200.
trace::TraceBuilder chain_of(const std::vector<OpWithKernel>& ops) {
  trace::TraceBuilder builder;
  builder.gpu("NVIDIA H200", 132);
  int64_t at = 100;
  for (const OpWithKernel& op : ops) {
    builder.op(op.name, at, 8, {.args = op.args})
        .kernel(op.kernel, at + 1, at + 20, op.kernel_us, {.call_dur = 5});
    at += std::max<int64_t>(10, op.kernel_us);
  }
  return builder;
}

constexpr const char* kGelu =
    "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(at::"
    "TensorIteratorBase&, at::native::GeluType)::{lambda()#1}>";
constexpr const char* kMul =
    "void at::native::vectorized_elementwise_kernel<8, at::native::BinaryFunctor<float, float, "
    "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >";

// Without shapes, the duration of the fused kernel is estimated from the longest kernel it
// replaces.
TEST(Advise, FusesAdjacentKernelsWithoutShapes) {
  const TraceAdvice report(chain_of({{"aten::mm", "{}", "ampere_sgemm_128x64_tn", 500},
                                     {"aten::gelu", "{}", kGelu, 100},
                                     {"aten::mul", "{}", kMul, 140}})
                               .trace());
  ASSERT_EQ(report->fusion.groups.size(), 1U);
  EXPECT_FALSE(report->fusion.groups[0].sizes_known);
  EXPECT_EQ(report->fusion.saving_ns.likely, 240e3 - 1.25 * 140e3);
  EXPECT_EQ(report->fusion.saving_ns.high, 100e3);
  EXPECT_EQ(report->fusion.kernels_after, 2);
}

// Five steps of three kernels. The host launches all of them within 250 us and runs ahead.
trace::Trace steps_ahead(int64_t first_gemm_us) {
  trace::TraceBuilder builder;
  builder.gpu("NVIDIA H200", 132);
  int64_t free = 20;
  for (int64_t i = 0; i < 5; ++i) {
    builder.step(i, 50 * i, 50);
    const std::tuple<const char*, const char*, int64_t> ops[] = {
        {"aten::mm", "ampere_sgemm_128x64_tn", i == 0 ? first_gemm_us : 500},
        {"aten::gelu", kGelu, 100},
        {"aten::mul", kMul, 140}};
    int64_t at = 50 * i;
    for (const auto& [op, kernel, dur] : ops) {
      builder.op(op, at, 8).kernel(kernel, at + 1, free, dur);
      at += 10;
      free += dur;
    }
  }
  return builder.trace();
}

// Fusing gelu and mul saves 65 us of each step. A cold first step changes nothing.
TEST(Advise, SavingCountsInEveryStepIfTheHostRunsAhead) {
  for (const int64_t first_gemm_us : {500, 5000}) {
    const TraceAdvice report(steps_ahead(first_gemm_us));
    EXPECT_EQ(report->diagnosis->step_ns(), 740e3);
    EXPECT_TRUE(report->diagnosis->spans_steps);
    const Advice* fuse = find(report, AdviceKind::kFuse);
    ASSERT_NE(fuse, nullptr);
    EXPECT_EQ(fuse->removes_ns.likely, 65e3);
    EXPECT_NEAR(fuse->saving_ns.likely, 65e3, 5e3) << "first GEMM of " << first_gemm_us << " us";
  }
}

TEST(Advise, RefusesToCheckIncomparableRuns) {
  EXPECT_THROW(check_pair("traces/mlp_eager.json", "pytorch/train_cpu.json.gz"), Error);
  EXPECT_THROW(check_pair("traces/mlp_eager.json", "pytorch/train_no_schedule.json.gz"), Error);
  EXPECT_FALSE(check_pair("traces/mlp_eager.json", "traces/mlp_eager.json").gpu.error());
}

// A kernel of the backward pass that reads a forward result is not fused into the forward kernel.
TEST(Advise, DoesNotFuseForwardWithBackward) {
  const TraceAdvice report = advise_data("pytorch/train.json.gz");
  std::map<trace::EventId, std::string> owner;
  for (const char* name : {"forward", "backward", "optimizer"}) {
    for (const StepModel& instance : report.made.models.named(name).steps) {
      for (const trace::EventId id : instance.owned.work) owner[id] = name;
    }
  }
  size_t backward = 0;
  for (const FusionGroup& group : report->fusion.groups) {
    for (const trace::EventId id : group.work) {
      EXPECT_EQ(owner[id], owner[group.work[0]]) << report.made.trace.name_of(id);
    }
    backward += owner[group.work[0]] == "backward" ? 1 : 0;
  }
  EXPECT_GT(backward, 0U);
}

TEST(Advise, AdvisesTensorCoresForFloat32Gemms) {
  const TraceAdvice report(
      chain_of(
          {{"aten::mm",
            R"({"Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["float", "float"]})",
            "ampere_sgemm_128x64_tn", 2700}})
          .trace());
  const Advice* found = find(report, AdviceKind::kTensorCores);
  ASSERT_NE(found, nullptr);
  // 137.4 GFLOP at 60 % of 494.5 TFLOP/s take 463 us.
  EXPECT_NEAR(found->saving_ns.likely, 2700e3 - 2 * 4096.0 * 4096 * 4096 / (494.5e3 * 0.6), 1);
}

TEST(Advise, FindsGemmsWithPartialWaves) {
  // 9 x 32 tiles of 256 x 128 are 288 tiles: three waves of 132 SMs with 108 slots empty. The
  // transposed tile gives 17 x 16 tiles, which fill fewer slots.
  const TraceAdvice report(
      chain_of(
          {{"aten::mm",
            R"({"Input Dims": [[2176, 8192], [8192, 4096]], "Input type": ["c10::BFloat16", "c10::BFloat16"]})",
            "nvjet_sm90_tst_128x256_64x4_1x2_h_bz_coopA_TNT", 300}})
          .trace());
  const Advice* found = find(report, AdviceKind::kWaves);
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->terms.back().value, 288.0 / 396, 1e-9);
}

TEST(Advise, FindsRecompilesGraphBreaksAndCompileTime) {
  trace::TraceBuilder builder;
  for (const char* region : {"0/0", "0/1", "1/0"}) {
    builder.op(fmt::format("Torch-Compiled Region: {}", region), 1000, 5);
    builder.op("TorchDynamo Cache Lookup", 1010, 20);
  }
  builder.annotation("entire_frame_compile", 2000, 900);
  const TraceAdvice report(builder.trace());
  EXPECT_EQ(report->reason, Reason::kNoDevice);
  ASSERT_NE(find(report, AdviceKind::kRecompiles), nullptr);
  EXPECT_EQ(find(report, AdviceKind::kRecompiles)->events.size(), 3U);
  ASSERT_NE(find(report, AdviceKind::kBreaks), nullptr);
  // Two frames have one graph break between them, which costs one cache lookup of 20 us.
  EXPECT_EQ(find(report, AdviceKind::kBreaks)->removes_ns.likely, 20000);
  ASSERT_NE(find(report, AdviceKind::kCompiling), nullptr);
  EXPECT_EQ(find(report, AdviceKind::kCompiling)->terms.at(1).value, 900000);
}

// Computing on the CPU makes a step host-bound, but compiling cannot shorten it.
TEST(Advise, DoesNotAdviseCompilingHostWork) {
  trace::TraceBuilder builder;
  builder.step(1, 0, 5000).op("aten::randn", 0, 4000).kernel(kGemm, 4100, 4110, 100);
  builder.kernel(kGemm, 4200, 4220, 100);
  const TraceAdvice report(builder.trace());
  EXPECT_EQ(report->diagnosis->limiter, Limiter::kHostWork);
  EXPECT_EQ(report->verdict, Verdict::kNo);
  EXPECT_EQ(report->reason, Reason::kUserHostWork);
}

}  // namespace
}  // namespace epi::analysis
