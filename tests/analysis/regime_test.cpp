// SPDX-License-Identifier: Apache-2.0
// What binds a step, how fast kernels ran, which blocks a trace has.
#include "epilogue/analysis/time/regime.h"

#include <gtest/gtest.h>

#include <numeric>

#include "epilogue/analysis/advise/blocks.h"
#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/cost/op_result.h"
#include "epilogue/trace/reader.h"
#include "tests/analysis/test_data.h"

namespace epi::analysis {
namespace {

TEST(Regime, EveryMomentHasAReason) {
  for (const char* name :
       {"traces/linear_eager.json", "traces/mlp_eager.json", "traces/mlp_compile.json",
        "traces/mlp_cudagraph.json", "traces/matmul_add_4096.json", "traces/llama_train.json.gz",
        "pytorch/streams.json.gz", "pytorch/train_no_schedule.json.gz"}) {
    const trace::Trace trace = read_data(name);
    const auto uses = time_uses(TraceIndex(trace));
    EXPECT_FALSE(uses.empty()) << name;
    for (const TimeUse& use : uses) {
      const double sum = std::accumulate(use.ns.begin(), use.ns.end(), 0.0);
      // Shares of a union are doubles: a nanosecond of rounding.
      EXPECT_NEAR(sum, use.window_ns, 1) << name << " " << use.name;
    }
  }
}

TEST(Regime, IsWhatTheTracesWereRecordedFor) {
  const auto bound = [](const char* name) {
    const trace::Trace trace = read_data(name);
    return time_uses(TraceIndex(trace)).at(0).bound();
  };
  EXPECT_EQ(bound("traces/matmul_add_64.json"), Bound::kDispatch);
  EXPECT_EQ(bound("traces/matmul_add_4096.json"), Bound::kArithmetic);
  EXPECT_EQ(bound("pairs/rms_norm_8192x4096.eager.json.gz"), Bound::kMemory);
  EXPECT_EQ(bound("traces/llama_train.json.gz"), Bound::kDispatch);
}

TEST(Regime, ATraceOfTheCpuHasNone) {
  const trace::Trace trace = read_data("pytorch/train_cpu.json.gz");
  EXPECT_TRUE(time_uses(TraceIndex(trace)).empty());
}

TEST(KernelRate, IsWorkOverTime) {
  const trace::Trace trace = read_data("traces/mlp_eager.json");
  const TraceIndex index(trace);
  const auto peaks = gpu_peaks("NVIDIA H200");
  int products = 0;
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    if (trace.category[id] != trace::Category::kKernel) continue;
    const KernelRate rate = kernel_rate(index, id, peaks);
    if (index.names[trace.name[id]].kind == Kind::kGemm) {
      ++products;
      // Each is 8192 x 768 x 3072.
      EXPECT_EQ(rate.flops, 2.0 * 8192 * 768 * 3072);
      EXPECT_NEAR(*rate.of_arithmetic, *rate.flops / rate.ns / 989.5e3, 1e-9);
      EXPECT_EQ(rate.is_arithmetic(), true);
    } else {
      EXPECT_FALSE(rate.flops);
      EXPECT_EQ(rate.is_arithmetic(), false);
      EXPECT_LT(*rate.of_bandwidth, 1);
    }
  }
  EXPECT_EQ(products, 9);
}

Blocks blocks_of(const char* name) {
  const trace::Trace trace = read_data(name);
  const TraceIndex index(trace);
  const Subject steps = step_subject(index);
  return find_blocks(index, steps.owned[typical_instance(steps.group)].work);
}

TEST(Blocks, TheMlpIsFoundHoweverItRan) {
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
  // Two of the attention in each layer, and the head.
  EXPECT_EQ(llama.linears.size(), 9U);
}

TEST(Blocks, LinearsKnowTheirBias) {
  const Blocks blocks = blocks_of("traces/linear_eager.json");
  ASSERT_EQ(blocks.linears.size(), 1U);
  EXPECT_TRUE(blocks.linears[0].bias);
  EXPECT_EQ(blocks.linears[0].in, 32);
  EXPECT_EQ(blocks.linears[0].out, 64);
  EXPECT_EQ(blocks_of("pairs/gpt_block_16x1024x768.eager.json.gz").linears.size(), 4U);
}

OpFlow flow_of(const std::string& name, const std::string& args) {
  const trace::Trace trace =
      trace::read_text(R"([{"ph": "X", "cat": "cpu_op", "name": ")" + name +
                           R"(", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": )" + args + "}]",
                       "made")
          .value();
  return op_flow(trace, 0);
}

TEST(OpFlow, ReadsAndResultsFollowFromShapes) {
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

// A linear's weight may have as many elements as a result; it is read transposed.
TEST(OpFlow, AWeightIsNoResult) {
  const OpFlow linear = flow_of(
      "aten::mm",
      R"({"Input Dims": [[8, 16], [16, 32]], "Input Strides": [[16, 1], [1, 16]], "Input type": ["float", "float"]})");
  EXPECT_EQ(linear.reads, (std::vector<TensorSize>{{128, 4}}));
  EXPECT_EQ(linear.result, (TensorSize{256, 4}));
}

}  // namespace
}  // namespace epi::analysis
