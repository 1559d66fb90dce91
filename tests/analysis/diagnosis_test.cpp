// SPDX-License-Identifier: Apache-2.0
// What limits a step, the rates kernels reach, and the model blocks found in a trace.
#include "epilogue/analysis/time/diagnosis.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "epilogue/analysis/advise/blocks.h"
#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/cost/op_result.h"
#include "epilogue/trace/reader.h"
#include "tests/analysis/synthetic_trace.h"
#include "tests/analysis/test_data.h"

namespace epi::analysis {
namespace {

TEST(Diagnosis, CriticalPathCoversTheStep) {
  for (const char* name : kTraces) {
    SCOPED_TRACE(name);
    const trace::Trace trace = read_data(name);
    const auto all = diagnoses(TraceIndex(trace));
    EXPECT_FALSE(all.empty());
    for (const Diagnosis& diagnosis : all) {
      SCOPED_TRACE(diagnosis.name);
      expect_path_covers_window(diagnosis);
      int64_t idle_ns = 0;
      for (const IdleGap& gap : diagnosis.gaps) idle_ns += gap.when.end - gap.when.begin;
      EXPECT_EQ(idle_ns + diagnosis.busy_ns, diagnosis.window_ns());
    }
  }
}

TEST(Diagnosis, FindsKnownLimiterOfRecordedTraces) {
  const auto limiter = [](const char* name) {
    const trace::Trace trace = read_data(name);
    return diagnoses(TraceIndex(trace)).at(0).limiter;
  };
  EXPECT_EQ(limiter("traces/matmul_add_64.json"), Limiter::kHost);
  EXPECT_EQ(limiter("traces/matmul_add_4096.json"), Limiter::kGpu);
  EXPECT_EQ(limiter("traces/mlp_eager.json"), Limiter::kHost);
  EXPECT_EQ(limiter("pairs/rms_norm_8192x4096.eager.json.gz"), Limiter::kGpu);
  EXPECT_EQ(limiter("traces/llama_train.json.gz"), Limiter::kHost);
}

TEST(Diagnosis, IsEmptyForCpuOnlyTrace) {
  const trace::Trace trace = read_data("pytorch/train_cpu.json.gz");
  EXPECT_TRUE(diagnoses(TraceIndex(trace)).empty());
}

int64_t path_us(const Diagnosis& diagnosis, Bound bound) {
  return diagnosis.bounds[static_cast<size_t>(bound)] / 1000;
}

TEST(Diagnosis, LateLaunchesAreHostBound) {
  // Three kernels of 60 us, each launched after the previous one has ended. The GPU is busy for
  // most of the step, but only a faster last kernel would shorten it.
  const Diagnosis found = SyntheticTrace()
                              .host("user_annotation", kStep, 0, 250)
                              .kernel(kGemm, 10, 13, 60)
                              .kernel(kGemm, 80, 83, 60)
                              .kernel(kGemm, 150, 153, 60)
                              .diagnosis();
  EXPECT_EQ(found.limiter, Limiter::kHost);
  EXPECT_EQ(found.window_ns(), 250000);
  EXPECT_EQ(found.busy_ns, 180000);
}

TEST(Diagnosis, FullQueueIsGpuBound) {
  const Diagnosis found = SyntheticTrace()
                              .host("user_annotation", kStep, 0, 60)
                              .kernel(kGemm, 10, 15, 100)
                              .kernel(kGemm, 20, 116, 100)
                              .kernel(kGemm, 30, 217, 100)
                              .diagnosis();
  EXPECT_EQ(found.limiter, Limiter::kGpu);
  EXPECT_EQ(path_us(found, Bound::kCompute), 300);
  EXPECT_EQ(path_us(found, Bound::kLaunches), 7);  // the first launch, its latency and two gaps
}

TEST(Diagnosis, CountsSynchronizationAfterItsWork) {
  const Diagnosis found = SyntheticTrace()
                              .host("user_annotation", kStep, 0, 330)
                              .kernel(kGemm, 10, 15, 200)
                              .host("cuda_runtime", "cudaStreamSynchronize", 20, 200)
                              .kernel(kGemm, 225, 230, 90)
                              .diagnosis();
  EXPECT_EQ(found.limiter, Limiter::kGpu);
  EXPECT_EQ(path_us(found, Bound::kSynchronizing), 5);
}

TEST(Diagnosis, DataLoadingIsInputBound) {
  const Diagnosis found =
      SyntheticTrace()
          .host("user_annotation", kStep, 0, 200)
          .host("user_annotation", "enumerate(DataLoader)#_Iter.__next__", 5, 140)
          .kernel(kGemm, 150, 155, 40)
          .diagnosis();
  EXPECT_EQ(found.limiter, Limiter::kInput);
  EXPECT_EQ(path_us(found, Bound::kInput), 140);
}

TEST(Diagnosis, OverlappedDataLoadingIsNotInputBound) {
  const Diagnosis found =
      SyntheticTrace()
          .host("user_annotation", kStep, 0, 200)
          .kernel(kGemm, 2, 6, 390)
          .host("user_annotation", "enumerate(DataLoader)#_Iter.__next__", 10, 140)
          .diagnosis();
  EXPECT_EQ(found.limiter, Limiter::kGpu);
  EXPECT_EQ(path_us(found, Bound::kInput), 0);
}

TEST(Diagnosis, SlowLaunchOnIdleDeviceIsInitialization) {
  const Diagnosis found = SyntheticTrace()
                              .host("user_annotation", kStep, 0, 9000)
                              .host("cuda_runtime", "cudaLaunchKernel", 100, 7000, 77)
                              .kernel(kGemm, 7200, 7205, 100)
                              .diagnosis();
  EXPECT_EQ(found.limiter, Limiter::kInitializing);
  EXPECT_EQ(path_us(found, Bound::kInitializing), 7000);
}

// As in the trace of a serving engine: a kernel waits for an event of another stream that is not in
// the file, and a blocking copy waits for the kernel.
TEST(Diagnosis, WaitWithoutRecordedCauseIsNotConclusive) {
  const Diagnosis found = SyntheticTrace()
                              .host("user_annotation", kStep, 0, 500500)
                              .kernel(kGemm, 10, 15, 5)
                              .kernel(kGemm, 100, 500000, 20)
                              .copy("hipMemcpyWithStream", 200, 499900, 500030, 10)
                              .diagnosis();
  EXPECT_EQ(found.limiter, Limiter::kNotConclusive);
  EXPECT_GT(found.share(Bound::kNotInFile), 0.99);
  EXPECT_LT(found.share(Bound::kLaunches), 0.01);
}

// When the file starts, the device is busy with work that was launched earlier.
TEST(Diagnosis, ExcludesClippedStart) {
  const Diagnosis found = SyntheticTrace()
                              .host("user_annotation", kStep, 0, 100)
                              .kernel(kGemm, 10, 5000, 300)
                              .kernel(kGemm, 20, 5301, 300)
                              .diagnosis();
  EXPECT_EQ(found.limiter, Limiter::kGpu);
  EXPECT_EQ(found.clipped_ns, 5000000);
  EXPECT_EQ(found.window_ns(), 601000);
}

TEST(Diagnosis, GraphCaptureIsNotHostBound) {
  SyntheticTrace builder;
  builder.host("user_annotation", kStep, 0, 1000)
      .kernel(kGemm, 10, 15, 5)
      .host("cuda_runtime", "cudaStreamBeginCapture", 50, 5)
      .host("cpu_op", "aten::mm", 100, 700)
      .host("cuda_runtime", "cudaStreamEndCapture", 900, 5);
  EXPECT_EQ(builder.diagnosis().limiter, Limiter::kCapture);
}

// The host is busy for the whole step, but it does not explain most of the device's idle time: the
// kernels were launched long before they start.
TEST(Diagnosis, UnexplainedIdleTimeIsNotConclusive) {
  SyntheticTrace builder;
  builder.host("user_annotation", kStep, 0, 2000)
      .host("cpu_op", "aten::mm", 0, 2000)
      .kernel(kGemm, 10, 800, 100)
      .kernel(kGemm, 910, 1700, 100);
  EXPECT_EQ(builder.diagnosis().limiter, Limiter::kNotConclusive);
}

// Work that was queued before the steps is not counted. Three kernels of 100 us take 300 us.
TEST(Diagnosis, OverlappingStepsStartAfterEarlierQueue) {
  SyntheticTrace builder;
  builder.device_work(kGemm, 1, 200);  // launched before the file starts
  for (int64_t i = 0; i < 3; ++i) {
    builder.host("user_annotation", "ProfilerStep#" + std::to_string(i), 10 + 20 * i, 19)
        .kernel(kGemm, 12 + 20 * i, 201 + 100 * i, 100);
  }
  const Diagnosis found = builder.diagnosis();
  EXPECT_EQ(found.judged, 3);
  EXPECT_EQ(found.window_ns(), 300000);
  EXPECT_EQ(found.clipped_ns, 191000);
  EXPECT_EQ(found.limiter, Limiter::kGpu);
}

// Steps are marked, but their launches are missing. The diagnosis covers the whole trace.
TEST(Diagnosis, MissingLaunchesStillGiveADiagnosis) {
  SyntheticTrace builder;
  for (int64_t i = 0; i < 3; ++i) {
    builder.host("user_annotation", "ProfilerStep#" + std::to_string(i), 100 * i, 99)
        .device_work(kGemm, 100 * i, 98);
  }
  const Diagnosis found = builder.diagnosis();
  EXPECT_TRUE(found.whole_trace);
  EXPECT_TRUE(found.launches_missing);
  EXPECT_EQ(found.limiter, Limiter::kGpu);
}

TEST(Diagnosis, UnknownKernelKindIsUnclassified) {
  SyntheticTrace builder;
  builder.host("user_annotation", kStep, 0, 20).kernel("my_kernel_v3", 5, 10, 980);
  EXPECT_EQ(builder.diagnosis().bound(), Bound::kUnclassified);
}

TEST(Diagnosis, PathIncludesLaunchesOfOtherThreads) {
  // The backward pass runs on thread 2 while the thread of the step waits for it.
  const Diagnosis found = SyntheticTrace()
                              .host("user_annotation", kStep, 0, 300)
                              .host("cpu_op", "aten::linear", 0, 50)
                              .host("cpu_op", "MmBackward0", 60, 190, 0, 2)
                              .kernel(kGemm, 240, 243, 10, 7, 2)
                              .host("cpu_op", "aten::add_", 260, 40)
                              .diagnosis();
  EXPECT_EQ(found.limiter, Limiter::kHost);
  EXPECT_TRUE(std::any_of(found.path.begin(), found.path.end(), [](const PathPart& part) {
    return part.begin_ns == 60000;  // start of MmBackward0
  }));
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
  const trace::Trace trace = read_data(name);
  const TraceIndex index(trace);
  const Subject steps = step_subject(index);
  return find_blocks(index, steps.owned[typical_instance(steps.group)].work);
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
  const trace::Trace trace =
      trace::read_bytes(R"([{"ph": "X", "cat": "cpu_op", "name": ")" + name +
                            R"(", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": )" + args + "}]",
                        "synthetic")
          .value();
  return op_flow(trace, 0);
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
