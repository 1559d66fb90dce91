// SPDX-License-Identifier: Apache-2.0
// What limits a step, the rates kernels reach, and the model blocks found in a trace.
#include "epilogue/analysis/step/diagnosis.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "epilogue/analysis/advise/blocks.h"
#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/cost/op_result.h"
#include "tests/analysis/diagnosed_trace.h"

namespace epi::analysis {
namespace {

using trace::TraceBuilder;

TEST(Diagnosis, CriticalPathCoversTheStep) {
  for (const char* name : kTraces) {
    SCOPED_TRACE(name);
    const ModeledTrace made(name);
    const auto all = diagnoses(made.models);
    EXPECT_FALSE(all.empty());
    for (const Diagnosis& diagnosis : all) {
      SCOPED_TRACE(diagnosis.name);
      expect_path_covers_window(diagnosis);
      int64_t idle_ns = 0;
      for (const IdleGap& gap : diagnosis.gaps) idle_ns += gap.ns();
      EXPECT_EQ(idle_ns, diagnosis.step.idle_ns);
      EXPECT_EQ(idle_ns, diagnosis.shares.idle_ns);
    }
  }
}

TEST(Diagnosis, FindsKnownLimiterOfRecordedTraces) {
  const auto limiter = [](const char* name) {
    const ModeledTrace made(name);
    return diagnoses(made.models).at(0).limiter;
  };
  EXPECT_EQ(limiter("traces/matmul_add_64.json"), Limiter::kHost);
  EXPECT_EQ(limiter("traces/matmul_add_4096.json"), Limiter::kGpu);
  EXPECT_EQ(limiter("traces/mlp_eager.json"), Limiter::kHost);
  EXPECT_EQ(limiter("pairs/rms_norm_8192x4096.eager.json.gz"), Limiter::kGpu);
  EXPECT_EQ(limiter("traces/llama_train.json.gz"), Limiter::kHost);
}

TEST(Diagnosis, IsEmptyForCpuOnlyTrace) {
  const ModeledTrace made("pytorch/train_cpu.json.gz");
  EXPECT_TRUE(diagnoses(made.models).empty());
}

int64_t path_us(const DiagnosedTrace& found, Bound bound) {
  return found->bounds[static_cast<size_t>(bound)] / 1000;
}

TEST(Diagnosis, LateLaunchesAreHostBound) {
  // Three kernels of 60 us, each launched after the previous one has ended. The GPU is busy for
  // most of the step, but only a faster last kernel would shorten it.
  const DiagnosedTrace found(TraceBuilder()
                                 .step(1, 0, 250)
                                 .kernel(kGemm, 10, 13, 60)
                                 .kernel(kGemm, 80, 83, 60)
                                 .kernel(kGemm, 150, 153, 60));
  EXPECT_EQ(found->limiter, Limiter::kHost);
  EXPECT_EQ(found->step_ns(), 250000);
  EXPECT_EQ(found->step.busy_ns, 180000);
}

TEST(Diagnosis, FullQueueIsGpuBound) {
  const DiagnosedTrace found(TraceBuilder()
                                 .step(1, 0, 60)
                                 .kernel(kGemm, 10, 15, 100)
                                 .kernel(kGemm, 20, 116, 100)
                                 .kernel(kGemm, 30, 217, 100));
  EXPECT_EQ(found->limiter, Limiter::kGpu);
  EXPECT_EQ(path_us(found, Bound::kCompute), 300);
  EXPECT_EQ(path_us(found, Bound::kLaunches), 7);  // the first launch, its latency and two gaps
}

TEST(Diagnosis, CountsSynchronizationAfterItsWork) {
  const DiagnosedTrace found(TraceBuilder()
                                 .step(1, 0, 330)
                                 .kernel(kGemm, 10, 15, 200)
                                 .call("cudaStreamSynchronize", 20, 200)
                                 .kernel(kGemm, 225, 230, 90));
  EXPECT_EQ(found->limiter, Limiter::kGpu);
  EXPECT_EQ(path_us(found, Bound::kSynchronizing), 5);
}

TEST(Diagnosis, DataLoadingIsInputBound) {
  const DiagnosedTrace found(TraceBuilder()
                                 .step(1, 0, 200)
                                 .annotation("enumerate(DataLoader)#_Iter.__next__", 5, 140)
                                 .kernel(kGemm, 150, 155, 40));
  EXPECT_EQ(found->limiter, Limiter::kInput);
  EXPECT_EQ(path_us(found, Bound::kInput), 140);
}

TEST(Diagnosis, OverlappedDataLoadingIsNotInputBound) {
  const DiagnosedTrace found(TraceBuilder()
                                 .step(1, 0, 200)
                                 .kernel(kGemm, 2, 6, 390)
                                 .annotation("enumerate(DataLoader)#_Iter.__next__", 10, 140));
  EXPECT_EQ(found->limiter, Limiter::kGpu);
  EXPECT_EQ(path_us(found, Bound::kInput), 0);
}

TEST(Diagnosis, SlowLaunchOnIdleDeviceIsInitialization) {
  const DiagnosedTrace found(TraceBuilder()
                                 .step(1, 0, 9000)
                                 .call("cudaLaunchKernel", 100, 7000)
                                 .kernel(kGemm, 7200, 7205, 100));
  EXPECT_EQ(found->limiter, Limiter::kInitializing);
  EXPECT_EQ(path_us(found, Bound::kInitializing), 7000);
}

// As in the trace of a serving engine: a kernel waits for an event of another stream that is not in
// the file, and a blocking copy waits for the kernel.
TEST(Diagnosis, WaitWithoutRecordedCauseIsNotConclusive) {
  const DiagnosedTrace found(TraceBuilder()
                                 .step(1, 0, 506500)
                                 .kernel(kGemm, 10, 15, 6000)
                                 .kernel(kGemm, 100, 506000, 20)
                                 .copy("Memcpy DtoH (Device -> Pageable)", 200, 506030, 10,
                                       {.call = "hipMemcpyWithStream", .call_dur = 505900}));
  EXPECT_EQ(found->limiter, Limiter::kNotConclusive);
  EXPECT_GT(found->share(Bound::kNotInTrace), 0.98);
  EXPECT_LT(found->share(Bound::kLaunches), 0.01);
}

// When the file starts, the device is busy with work that was launched earlier.
TEST(Diagnosis, ExcludesClippedStart) {
  const DiagnosedTrace found(
      TraceBuilder().step(1, 0, 100).kernel(kGemm, 10, 5000, 300).kernel(kGemm, 20, 5301, 300));
  EXPECT_EQ(found->limiter, Limiter::kGpu);
  EXPECT_EQ(found->step_ns(), 5601000);
  EXPECT_EQ(found->clipped_ns, 5000000);
  EXPECT_EQ(found->analyzed_ns(), 601000);
}

TEST(Diagnosis, GraphCaptureIsNotHostBound) {
  const DiagnosedTrace found(TraceBuilder()
                                 .step(1, 0, 1000)
                                 .kernel(kGemm, 10, 15, 5)
                                 .call("cudaStreamBeginCapture", 50, 5)
                                 .op("aten::mm", 100, 700)
                                 .call("cudaStreamEndCapture", 900, 5));
  EXPECT_EQ(found->limiter, Limiter::kCapture);
}

// The host is busy for the whole step, but it does not explain most of the device's idle time: the
// kernels were launched long before they start.
TEST(Diagnosis, UnexplainedIdleTimeIsNotConclusive) {
  const DiagnosedTrace found(TraceBuilder()
                                 .step(1, 0, 2000)
                                 .op("aten::mm", 0, 2000)
                                 .kernel(kGemm, 10, 800, 100)
                                 .kernel(kGemm, 910, 1700, 100));
  EXPECT_EQ(found->limiter, Limiter::kNotConclusive);
}

// The host runs ahead, so each step takes as long as its kernel: 100 us. Work that was queued
// before the recording delays the first one, but does not make it longer.
TEST(Diagnosis, OverlappingStepsStartAfterEarlierWork) {
  TraceBuilder builder;
  builder.unlaunched(kGemm, 1, 200);
  for (int64_t i = 0; i < 3; ++i) {
    builder.step(i, 10 + 20 * i, 19).kernel(kGemm, 12 + 20 * i, 201 + 100 * i, 100);
  }
  const DiagnosedTrace found(builder);
  EXPECT_EQ(found->judged.size(), 3U);
  EXPECT_EQ(found->step.name, "ProfilerStep#1");
  EXPECT_EQ(found->step.window, (Interval{301000, 401000}));
  EXPECT_EQ(found->clipped_ns, 0);
  EXPECT_TRUE(found->spans_steps);
  EXPECT_EQ(found->graph_window, (Interval{201000, 501000}));
  EXPECT_EQ(found->graph->window_ns(), 300000);
  EXPECT_EQ(path_us(found, Bound::kCompute), 100);
  EXPECT_EQ(found->limiter, Limiter::kGpu);
}

// The host is busy all the time, for 100 us per step. It launches a kernel of 10 us at the start
// and one of 70 us at the end, which outlasts the step by 65 us. So the windows tile, and a step
// has 80 us of GPU work in 100 us. Faster kernels would shorten no step but the last.
TEST(Diagnosis, BusyHostIsTheLimitIfWorkOutlastsTheSteps) {
  TraceBuilder builder;
  constexpr int64_t kSteps = 6;
  for (int64_t i = 0; i < kSteps; ++i) {
    const int64_t at = 100 * i;
    builder.step(i, at, 100).op("aten::mm", at, 100);
    builder.kernel(kGemm, at + 2, i == 0 ? at + 7 : at + 65, 10)
        .kernel(kGemm, at + 90, at + 95, 70);
  }
  const DiagnosedTrace found(builder);
  EXPECT_TRUE(found->spans_steps);
  EXPECT_EQ(found->step_ns(), 100000);
  StepChange no_work;
  for (const trace::EventId id : found.made.models.whole_trace().steps[0].owned.work) {
    no_work.durations[id] = 1;
  }
  StepChange no_host;
  for (const Bound bound : {Bound::kDispatch, Bound::kLaunches}) {
    no_host.scale[static_cast<size_t>(bound)] = 0;
  }
  EXPECT_NEAR(found->graph->retimed(no_work).window_ns, 100e3 * kSteps, 1e3);
  EXPECT_LE(found->graph->retimed(no_host).window_ns, 85e3 * kSteps);
  EXPECT_EQ(found->limiter, Limiter::kHost);
}

// Steps are marked, but their launches are missing. The diagnosis covers the whole trace.
TEST(Diagnosis, MissingLaunchesStillGiveADiagnosis) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 3; ++i) builder.step(i, 100 * i, 99).unlaunched(kGemm, 100 * i, 98);
  const DiagnosedTrace found(builder);
  EXPECT_TRUE(found->whole_trace());
  EXPECT_TRUE(found->launches_missing);
  EXPECT_EQ(found->limiter, Limiter::kGpu);
}

TEST(Diagnosis, UnknownKernelKindIsUnclassified) {
  const DiagnosedTrace found(TraceBuilder().step(1, 0, 20).kernel("my_kernel_v3", 5, 10, 980));
  EXPECT_EQ(found->bound(), Bound::kUnclassified);
}

TEST(Diagnosis, PathIncludesLaunchesOfOtherThreads) {
  // The backward pass runs on thread 2 while the thread of the step waits for it.
  const DiagnosedTrace found(TraceBuilder()
                                 .step(1, 0, 300)
                                 .op("aten::linear", 0, 50)
                                 .op("MmBackward0", 60, 190, {.thread = 2})
                                 .kernel(kGemm, 240, 243, 10, {.thread = 2})
                                 .op("aten::add_", 260, 40));
  EXPECT_EQ(found->limiter, Limiter::kHost);
  EXPECT_TRUE(std::any_of(found->path.begin(), found->path.end(), [](const PathPart& part) {
    return part.begin_ns == 60000;  // start of MmBackward0
  }));
}

// The verdict adds up all warm steps. The screen shows one of them.
TEST(Diagnosis, VerdictIsAboutAllWarmSteps) {
  // Two steps of 100 us with 20 us on the host, and one of 104 us with a kernel of 4 us. Without
  // GPU work, they take 140 of 304 us in all, without dispatch more: the verdict is that of two.
  TraceBuilder builder;
  for (int64_t i = 0; i < 2; ++i) {
    builder.step(i, 200 * i, 20).kernel(kGemm, 200 * i, 200 * i + 5, 95);
  }
  builder.step(2, 400, 104).op("aten::mm", 400, 104).kernel(kGemm, 499, 500, 4);
  const DiagnosedTrace found(builder);
  EXPECT_EQ(found->limiter, Limiter::kGpu);
  ASSERT_EQ(found->judged.size(), 3U);
  ASSERT_EQ(found->differing().size(), 1U);
  EXPECT_EQ(found->differing()[0].name, "ProfilerStep#2");
  EXPECT_EQ(found->differing()[0].place, 2U);
  EXPECT_EQ(found->differing()[0].limiter, Limiter::kHost);
  EXPECT_FALSE(found->spans_steps);
}

TEST(Diagnosis, ColdStepsAreNotJudged) {
  // Steps of 1000, 100, 100 us. More than twice the median of 100 us is cold.
  TraceBuilder builder;
  builder.step(0, 0, 1000).op("aten::mm", 0, 1000).kernel(kGemm, 10, 15, 5);
  for (int64_t i = 1; i < 3; ++i) {
    builder.step(i, 900 + 200 * i, 100).kernel(kGemm, 900 + 200 * i, 905 + 200 * i, 95);
  }
  const DiagnosedTrace found(builder);
  ASSERT_EQ(found->judged.size(), 2U);
  EXPECT_EQ(found->judged[0].place, 1U);
  EXPECT_EQ(found->limiter, Limiter::kGpu);
  EXPECT_TRUE(found->differing().empty());
}

TEST(Diagnosis, TruncatedFileIsCut) {
  trace::Trace recorded = TraceBuilder().step(1, 0, 100).kernel(kGemm, 10, 15, 50).trace();
  EXPECT_FALSE(is_cut(recorded));
  recorded.defects.count(trace::Defect::kTruncated);
  const ModeledTrace made(std::move(recorded));
  EXPECT_TRUE(diagnoses(made.models).at(0).is_cut);
}

TEST(KernelRate, DividesWorkByTime) {
  const trace::Trace trace = read_data("traces/mlp_eager.json");
  const TraceIndex index(trace);
  const auto peaks = gpu_peaks("NVIDIA H200");
  int gemms = 0;
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    if (trace.category[id] != trace::Category::kKernel) continue;
    const KernelRate rate = kernel_rate(index, id, peaks);
    if (index.names[trace.name[id]].kind == Kind::kGemm) {
      ++gemms;
      // Each is 8192 x 768 x 3072.
      EXPECT_EQ(rate.flops, 2.0 * 8192 * 768 * 3072);
      EXPECT_NEAR(*rate.of_peak_flops, *rate.flops / rate.ns / 989.5e3, 1e-9);
      EXPECT_EQ(rate.is_compute_bound(), true);
    } else {
      EXPECT_FALSE(rate.flops);
      EXPECT_EQ(rate.is_compute_bound(), false);
      EXPECT_LT(*rate.of_peak_bandwidth, 1);
    }
  }
  EXPECT_EQ(gemms, 9);
}

Blocks blocks_of(const char* name) {
  const ModeledTrace made(name);
  const StepGroup& steps = made.models.steps();
  return find_blocks(made.index, steps.steps[steps.shown()].owned.work);
}

TEST(Blocks, FindsMlpInEveryMode) {
  for (const char* name : {"traces/mlp_eager.json", "traces/mlp_compile.json",
                           "traces/mlp_liger.json", "pairs/geglu_8192x768x3072.eager.json.gz"}) {
    const Blocks blocks = blocks_of(name);
    ASSERT_EQ(blocks.mlps.size(), 1U) << name;
    EXPECT_TRUE(blocks.linears.empty()) << name;
    const GatedMlp& mlp = blocks.mlps[0];
    EXPECT_EQ(mlp.rows, 8192) << name;
    EXPECT_EQ(mlp.dim, 768) << name;
    EXPECT_EQ(mlp.hidden, 3072) << name;
    EXPECT_EQ(mlp.activation, "geglu") << name;
    EXPECT_EQ(mlp.dtype, "bf16") << name;
  }
  EXPECT_EQ(blocks_of("pairs/geglu_erf_8192x1024x2736.eager.json.gz").mlps.at(0).activation,
            "geglu_erf");
  const Blocks llama = blocks_of("pairs/small_llama_16x512.eager.json.gz");
  ASSERT_EQ(llama.mlps.size(), 4U);
  EXPECT_EQ(llama.mlps[3].activation, "swiglu");
  EXPECT_EQ(llama.mlps[3].hidden, 1536);
  // Two in the attention of each layer, and the head.
  EXPECT_EQ(llama.linears.size(), 9U);
}

TEST(Blocks, FindsLinearsWithBias) {
  const Blocks blocks = blocks_of("traces/linear_eager.json");
  ASSERT_EQ(blocks.linears.size(), 1U);
  EXPECT_TRUE(blocks.linears[0].bias);
  EXPECT_EQ(blocks.linears[0].in, 32);
  EXPECT_EQ(blocks.linears[0].out, 64);
  EXPECT_EQ(blocks_of("pairs/gpt_block_16x1024x768.eager.json.gz").linears.size(), 4U);
}

OpFlow flow_of(const std::string& name, const std::string& args) {
  return op_flow(TraceBuilder().op(name, 1, 1, {.args = args}).trace(), 0);
}

TEST(OpFlow, DerivesReadsAndResultFromShapes) {
  const OpFlow mean = flow_of(
      "aten::mean",
      R"({"Input Dims": [[8, 16], [], []], "Input type": ["float", "ScalarList", "Scalar"], "Concrete Inputs": ["", "[-1]", "True"]})");
  EXPECT_EQ(mean.result, (TensorSize{8, 4}));
  EXPECT_EQ(mean.row, 16);
  EXPECT_FALSE(mean.over_columns);
  const OpFlow columns = flow_of(
      "aten::sum",
      R"({"Input Dims": [[8, 16], []], "Input type": ["float", "ScalarList"], "Concrete Inputs": ["", "[0]"]})");
  EXPECT_EQ(columns.result, (TensorSize{16, 4}));
  EXPECT_TRUE(columns.over_columns);
  const OpFlow all = flow_of("aten::sum", R"({"Input Dims": [[8, 16]], "Input type": ["float"]})");
  EXPECT_EQ(all.result, (TensorSize{1, 4}));
  const OpFlow copy =
      flow_of("aten::copy_",
              R"({"Input Dims": [[8, 16], [8, 16]], "Input type": ["float", "c10::BFloat16"]})");
  EXPECT_EQ(copy.result, (TensorSize{128, 4}));
  EXPECT_EQ(copy.reads, (std::vector<TensorSize>{{128, 2}}));
  const OpFlow scaled = flow_of(
      "aten::mul", R"({"Input Dims": [[8, 16], [16]], "Input type": ["c10::BFloat16", "float"]})");
  EXPECT_EQ(scaled.result, (TensorSize{128, 4}));
  const OpFlow rows = flow_of(
      "aten::index_select",
      R"({"Input Dims": [[1000, 16], [], [8]], "Input type": ["c10::BFloat16", "Scalar", "long int"]})");
  EXPECT_EQ(rows.result, (TensorSize{128, 2}));
  const OpFlow cat =
      flow_of("aten::cat",
              R"({"Input Dims": [[[8, 16], [8, 4]], []], "Input type": ["TensorList", "Scalar"]})");
  EXPECT_EQ(cat.result.elements, 160);
  EXPECT_EQ(flow_of("aten::mul", "{}").result.elements, 0);
}

// A linear's weight may have the same number of elements as the result. Its strides show that it is
// a transposed weight.
TEST(OpFlow, ExcludesTransposedWeights) {
  const OpFlow linear = flow_of(
      "aten::mm",
      R"({"Input Dims": [[8, 16], [16, 32]], "Input Strides": [[16, 1], [1, 16]], "Input type": ["float", "float"]})");
  EXPECT_EQ(linear.reads, (std::vector<TensorSize>{{128, 4}}));
  EXPECT_EQ(linear.result, (TensorSize{256, 4}));
}

}  // namespace
}  // namespace epi::analysis
