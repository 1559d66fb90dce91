// SPDX-License-Identifier: Apache-2.0
// The GEMM table of a trace, the peak rates of GPUs, and the bytes operators move.
#include "epilogue/analysis/time/gemms.h"

#include <gtest/gtest.h>

#include "tests/analysis/test_data.h"
#include "tests/trace/trace_builder.h"

namespace epi::analysis {
namespace {

using trace::TraceBuilder;

TEST(Gemms, MlpHasTwoRows) {
  const GemmTable table = gemm_table(read_data("traces/mlp_eager.json"));
  ASSERT_EQ(table.rows.size(), 2U);
  const GemmRow& gate_and_up = table.rows[0];
  EXPECT_EQ(gate_and_up.gemm, (GemmShape{1, 8192, 3072, 768}));
  EXPECT_EQ(gate_and_up.count, 6);
  EXPECT_EQ(gate_and_up.name.tile, (std::array<int, 3>{256, 128, 64}));
  const double flops = 2.0 * 8192 * 3072 * 768;
  EXPECT_DOUBLE_EQ(*gate_and_up.tflops, flops / gate_and_up.median_ns / 1000);
  EXPECT_DOUBLE_EQ(*gate_and_up.share_of_peak, *gate_and_up.tflops / 989.5);
}

TEST(Gemms, GemmsInAGraphHaveNoSizesAndNoRate) {
  const GemmTable table = gemm_table(read_data("traces/mlp_cudagraph.json"));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_FALSE(table.rows[0].gemm.has_value());
  EXPECT_FALSE(table.rows[0].tflops.has_value());
  EXPECT_EQ(table.rows[0].count, 6);
}

TEST(Gemms, IncludeTheSplitKReduction) {
  TraceBuilder builder;
  builder
      .op("aten::mm", 0, 0.1,
          {.external_id = 1,
           .args =
               R"({"Input Dims": [[16, 4096], [4096, 4096]], "Input type": ["c10::Half", "c10::Half"]})"})
      .unlaunched("nvjet_sm90_hsh_64x16_64x16_2x1_v_bz_splitK_TNT", 0.2, 8, {.external_id = 1})
      .unlaunched("void cublasLt::splitKreduce_kernel<32, 16, int, float, __half, float, __half>()",
                  9, 2, {.external_id = 1});
  const GemmTable table = gemm_table(builder.trace());
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].median_ns, 10000);
  EXPECT_FALSE(table.peaks.has_value());
  EXPECT_FALSE(table.rows[0].share_of_peak.has_value());
}

// The two kernels of the operator have different sizes. Gate and up count as stacked.
TEST(Gemms, KnowTheKernelsOfTheGluOperator) {
  const trace::Trace trace =
      TraceBuilder()
          .op("epilogue::glu_mlp_forward", 0, 0.1,
              {.external_id = 1,
               .args = R"({"Input Dims": [[2, 8, 64], [256, 64], [256, 64], [32, 256], []],
                           "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16",
                                          "c10::BFloat16", "Scalar"]})"})
          .unlaunched("epi_tem_fused_mm_mul_silu_0_stream", 0.2, 8, {.external_id = 1})
          .unlaunched("epi_tem_fused_mm_1_stream", 9, 2, {.external_id = 1})
          .trace();
  const GemmTable table = gemm_table(trace);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].gemm, (GemmShape{1, 16, 512, 64}));
  EXPECT_EQ(table.rows[1].gemm, (GemmShape{1, 16, 32, 256}));
  EXPECT_EQ(table.rows[1].name.dtype, NumberType::kBf16);
  EXPECT_DOUBLE_EQ(*table.rows[0].tflops, 2.0 * 16 * 512 * 64 / 8000 / 1000);
  // x, gate, up and the hidden activations; these, down and y.
  EXPECT_EQ(op_bytes(trace, 0, 1)->bytes, 2.0 * (16 * 64 + 512 * 64 + 16 * 256));
  EXPECT_EQ(op_bytes(trace, 0, 2)->bytes, 2.0 * (16 * 256 + 32 * 256 + 16 * 32));
}

TEST(GpuPeaks, AreFoundByDriverName) {
  EXPECT_EQ(gpu_peaks("NVIDIA H200")->f16, 989.5);
  EXPECT_EQ(gpu_peaks("NVIDIA H100 80GB HBM3")->title, "H100 SXM");
  EXPECT_EQ(gpu_peaks("NVIDIA H100 PCIe")->title, "H100 PCIe");
  EXPECT_EQ(gpu_peaks("NVIDIA A100-SXM4-80GB")->memory_tb_s, 2.039);
  EXPECT_EQ(gpu_peaks("NVIDIA A100-PCIE-40GB")->memory_tb_s, 1.555);
  EXPECT_EQ(gpu_peaks("NVIDIA A10")->title, "A10");
  EXPECT_EQ(gpu_peaks("NVIDIA A10G")->title, "A10G");
  EXPECT_EQ(gpu_peaks("NVIDIA L40S")->title, "L40S");
  EXPECT_EQ(gpu_peaks("NVIDIA GB200")->title, "GB200");
  EXPECT_EQ(gpu_peaks("Tesla V100-SXM2-16GB")->f32, 15.7);
  EXPECT_EQ(gpu_peaks("AMD Instinct MI300X")->title, "MI300X");
  EXPECT_EQ(gpu_peaks("Tesla T4")->of(NumberType::kBf16), 0);
  EXPECT_FALSE(gpu_peaks("NVIDIA H2000").has_value());
  EXPECT_FALSE(gpu_peaks("NVIDIA A100-SXM4-40GB MIG 1g.5gb").has_value());
  EXPECT_FALSE(gpu_peaks("NVIDIA GeForce RTX 3090 Ti").has_value());
  EXPECT_FALSE(gpu_peaks("Intel(R) Xeon(R) Processor").has_value());
  EXPECT_FALSE(gpu_peaks("").has_value());
}

TEST(OpCost, CountsBytesReadAndWritten) {
  const auto bytes = [](const char* op, const std::string& args) {
    const trace::Trace trace = TraceBuilder().op(op, 0, 1, {.args = args}).trace();
    const auto moved = op_bytes(trace, 0);
    return moved && !moved->at_least ? moved->bytes : -1.0;
  };
  const std::string half = R"("c10::Half")";
  const std::string none = R"("")";
  const auto args = [](const std::string& dims, const std::string& types,
                       const std::string& strides = "[]") {
    return R"({"Input Dims": )" + dims + R"(, "Input type": [)" + types +
           R"(], "Input Strides": )" + strides + "}";
  };
  EXPECT_EQ(bytes("aten::gelu", args("[[4, 8], []]", half + "," + none)), 2 * 4 * 8 * 2);
  EXPECT_EQ(bytes("aten::add_", args("[[4, 8], [8], []]", half + "," + half + R"(,"Scalar")")),
            2 * (32 + 8 + 32));
  EXPECT_EQ(bytes("aten::mul", args("[[4, 8], [4, 8]]", half + R"(,"float")")), 64 + 128 + 128);
  EXPECT_EQ(bytes("aten::eq", args("[[4, 8], []]", half + R"(,"Scalar")")), 64 + 32);
  EXPECT_EQ(
      bytes("aten::addmm", args("[[8], [4, 16], [16, 8], [], [], [4, 8]]",
                                half + "," + half + "," + half + R"(,"Scalar","Scalar",)" + half)),
      2 * (8 + 64 + 128 + 32));
  EXPECT_EQ(bytes("aten::mul", args("[[4, 8], [4, 8]]", half + "," + half, "[[8, 1], [0, 1]]")),
            2 * (32 + 8 + 32));
  EXPECT_EQ(bytes("aten::fill_", args("[[4, 8], []]", half + R"(,"Scalar")")), 64);
  EXPECT_EQ(bytes("aten::copy_", args("[[4, 8], [4, 8], []]", half + R"(,"float","Scalar")")),
            64 + 128);
  EXPECT_EQ(bytes("some_op", args("[[4, 8]]", half)), -1);
  EXPECT_EQ(bytes("aten::gelu", "{}"), -1);
}

}  // namespace
}  // namespace epi::analysis
