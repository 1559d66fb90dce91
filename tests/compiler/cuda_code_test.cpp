// SPDX-License-Identifier: Apache-2.0
// Generated CUDA C++: its text, the choice of tiles, and that NVRTC compiles it. Needs no GPU.
#include "epilogue/compiler/codegen/cuda_code.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "epilogue/base/error.h"
#include "epilogue/compiler/codegen/hopper_code.h"

#ifdef EPI_HAS_CUDA
#include "epilogue/compiler/codegen/nvrtc.h"
#endif

namespace epi::compiler {
namespace {

using pointwise::Function;

// gelu(in0) * in1, as in the MLP.
PointwiseCode gelu_mul(DType dtype) {
  PointwiseCode code;
  code.outputs = {dtype};
  code.inputs = {{dtype, Along::kDense}, {dtype, Along::kDense}};
  code.program.inputs = 2;
  code.program.steps = {{Function::kGeluTanh, {{0, 0}}}, {Function::kMul, {{2, 0}, {1, 0}}}};
  code.program.outputs = {3};
  return code;
}

TEST(CudaCode, IsReadable) {
  const std::string text = emit_cuda_pointwise("epi_poi_fused_gelu_mul_0", gelu_mul(DType::kBF16));
  EXPECT_NE(text.find(R"(    const float v0 = to_float(in0.values[k]);
    const float v1 = to_float(in1.values[k]);
    const float v2 = gelu_tanh(v0);
    const float v3 = mul(v2, v1);
    out0.values[k] = rounded<bf16>(v3);
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("epi_poi_fused_gelu_mul_0_body<8>(walk);"), std::string::npos) << text;
}

TEST(CudaCode, VectorIsSixteenBytesOfWidestOperand) {
  PointwiseCode code = gelu_mul(DType::kBF16);
  EXPECT_EQ(cuda_vector(code), 8);
  code.outputs = {DType::kF32};
  EXPECT_EQ(cuda_vector(code), 4);
}

// Expectations are arithmetic with the measured times of a tile: waves, and the rest of a wave.
TEST(CudaCode, ChoosesTileThatFillsGpu) {
  GemmCode code;
  code.gemms = 2;
  code.n = 3072;
  code.k = 768;
  const auto expect_tile = [&](int64_t rows_of_x, int rows, int half) {
    const HopperTile tile = choose_tile(code, rows_of_x, 132);
    EXPECT_EQ(tile.rows, rows) << rows_of_x;
    EXPECT_EQ(tile.half, half) << rows_of_x;
  };
  expect_tile(128, 128, 64);   // one wave with any tile
  expect_tile(512, 128, 96);   // 128 tiles, one wave
  expect_tile(8192, 256, 96);  // 8 waves instead of 16 of half the rows
  code.k = 128;
  expect_tile(8192, 128, 96);  // too shallow for tall tiles
  code.k = 768;
  for (const HopperTile& tile : hopper_tiles()) {
    EXPECT_LE(tile.shared_bytes(code), kMaxSharedBytes);
    EXPECT_GE(tile.stages(code), 3);
  }
  code.n = 10240;
  code.k = 2560;
  expect_tile(256, 128, 96);  // a single row of tall tiles
  code.gemms = 1;
  code.n = 768;
  code.k = 3072;
  expect_tile(8192, 256, 96);  // 128 tiles, one wave
  code.n = 2048;
  expect_tile(8192, 128, 128);  // 4 waves instead of 3 of 352 tall tiles, which take longer
}

TEST(CudaCode, ChoosesOneKernelForSmallMlps) {
  GemmCode first;
  first.gemms = 2;
  first.dtype = DType::kBF16;
  first.outputs = {DType::kBF16};
  GemmCode second;
  second.dtype = DType::kBF16;
  // The rows of x per cluster, 0 for two kernels.
  const auto rows_of = [&](int64_t rows, int64_t k, int64_t n, int64_t out) {
    first.n = second.k = n;
    first.k = k;
    second.n = out;
    const auto mlp = choose_mlp(first, second, rows, 132);
    if (!mlp) return 0;
    EXPECT_LE(mlp->shared_bytes(first, second), kMaxSharedBytes);
    EXPECT_LE(mlp->blocks(rows), 64);
    return 16 * mlp->row_groups;
  };
  EXPECT_EQ(rows_of(1, 64, 256, 64), 16);
  EXPECT_EQ(rows_of(128, 64, 256, 64), 16);
  EXPECT_EQ(rows_of(129, 64, 256, 64), 32);
  EXPECT_EQ(rows_of(512, 64, 256, 64), 64);
  EXPECT_EQ(rows_of(1024, 64, 256, 64), 128);
  EXPECT_EQ(rows_of(1025, 64, 256, 64), 0) << "too many clusters";
  EXPECT_EQ(rows_of(64, 192, 512, 192), 0) << "the stream form is faster";
  EXPECT_EQ(rows_of(65, 192, 512, 192), 16);
  EXPECT_EQ(rows_of(65, 768, 3072, 768), 0) << "the weights do not fit";
  EXPECT_EQ(rows_of(65, 64, 256, 264), 0) << "more columns than a warp has registers for";
  second.gemms = 2;
  EXPECT_EQ(rows_of(128, 64, 256, 64), 0);
  second.gemms = 1;
  first.outputs = {DType::kF32};
  EXPECT_EQ(rows_of(128, 64, 256, 64), 0) << "the hidden activations are not rounded";
}

TEST(CudaCode, RingOfDecodeFitsSharedMemory) {
  for (const int gemms : {1, 2}) {
    GemmCode code;
    code.gemms = gemms;
    code.n = 14336;
    const HopperDecode decode;
    for (const int64_t rows : {1, 8}) {
      EXPECT_GE(decode.stages(code, rows), 4);
      EXPECT_LE(decode.shared_bytes(code, rows), kMaxSharedBytes);
    }
    EXPECT_EQ(decode.blocks(code, 132), 132);
    code.n = 8;
    EXPECT_EQ(decode.blocks(code, 132), 4);
  }
}

TEST(CudaCode, StreamsAsManyWeightRowsAsDistributeEvenly) {
  GemmCode code;
  code.gemms = 2;
  code.n = 14336;
  EXPECT_EQ(choose_stream(code, 9, 132).rows, 16);  // 7 tiles of 16 instead of 4 of 32
  EXPECT_EQ(choose_stream(code, 9, 132).tokens, 16);
  EXPECT_EQ(choose_stream(code, 17, 132).rows, 32);
  EXPECT_EQ(choose_stream(code, 33, 132).tokens, 64);
}

TEST(CudaCode, SmallGemmsDoNotFillGpu) {
  GemmCode code;
  code.n = 4096;
  code.k = 14336;
  EXPECT_TRUE(fills_gpu(code, 4096, 132));
  EXPECT_TRUE(fills_gpu(code, 16, 132));  // streams the weights
  code.n = 128;
  EXPECT_TRUE(fills_gpu(code, 8, 132));    // 64 blocks of two columns
  EXPECT_FALSE(fills_gpu(code, 16, 132));  // only four blocks
  code.n = 4096;
  EXPECT_FALSE(fills_gpu(code, 128, 132));  // 32 tiles, each over the whole k
  code.n = 64;
  code.k = 256;
  EXPECT_TRUE(fills_gpu(code, 128, 132));  // idle time below the cost of a launch
  code.gemms = 2;
  code.program.steps = {{Function::kMul, {{0, 0}, {1, 0}}}};
  code.n = 512;
  code.k = 8192;
  EXPECT_FALSE(fills_gpu(code, 128, 132));
  code.n = 14336;
  code.k = 4096;
  EXPECT_TRUE(fills_gpu(code, 128, 132));
  EXPECT_TRUE(fills_gpu(code, 4096, 132));
}

#ifdef EPI_HAS_CUDA

TEST(CudaCode, NvrtcCompilesEveryOperator) {
  PointwiseCode code;
  code.outputs = {DType::kF16, DType::kF32};
  code.inputs = {{DType::kBF16, Along::kDense}, {DType::kF32, Along::kBroadcast}};
  code.program.inputs = 2;
  int last = 1;
  const auto push = [&](Step step) {
    code.program.steps.push_back(std::move(step));
    last = code.program.inputs + static_cast<int>(code.program.steps.size()) - 1;
  };
  for (size_t i = 0; i < pointwise::kFunctionCount; ++i) {
    const pointwise::FunctionInfo& info = pointwise::kFunctions[i];
    Step step{static_cast<Function>(i), {{last, 0}}};
    if (info.inputs == 2) step.terms.push_back({0, 0});
    for (size_t scalar = 0; scalar < info.scalar_count; ++scalar) {
      step.terms.push_back({-1, scalar == 0 ? -2.5 : 1e30});
    }
    push(step);
  }
  Step rounded{std::nullopt, {{last, 0}}};
  rounded.rounded_to = DType::kBF16;
  push(rounded);
  code.program.outputs = {last, 4};
  const std::string source = cuda_prelude() + emit_cuda_pointwise("all", code);
  for (const char* architecture : {"sm_80", "sm_90a"}) {
    EXPECT_GT(assemble_cuda(source, architecture).size(), 1000U) << architecture;
  }
}

// Tiles and streams with each kind of operand. gpu_custom_gemms_test.cpp runs the other sizes.
TEST(CudaCode, NvrtcCompilesHopperGemms) {
  for (const int gemms : {1, 2}) {
    GemmCode code;
    code.n = 128;
    code.k = 64;
    code.dtype = gemms == 1 ? DType::kF16 : DType::kBF16;
    code.gemms = gemms;
    code.outputs = {code.dtype};
    code.operands = {{code.dtype, 128, 1}, {DType::kF32, 0, 1}, {code.dtype, 1, 0}};
    code.program.inputs = gemms + 3;
    int last = 0;
    const auto push = [&](Step step) {
      code.program.steps.push_back(std::move(step));
      last = code.program.inputs + static_cast<int>(code.program.steps.size()) - 1;
    };
    for (const Function function :
         {Function::kNeg, Function::kRelu, Function::kSigmoid, Function::kSilu}) {
      push({function, {{last, 0}}});
    }
    for (int operand = 1; operand < code.program.inputs; ++operand) {
      push({Function::kAdd, {{last, 0}, {operand, 0}, {-1, 2}}});
    }
    push({Function::kDiv, {{last, 0}, {-1, -0.0}}});
    push({Function::kMul, {{last, 0}, {-1, 0.5}}});
    Step rounded{std::nullopt, {{last, 0}}};
    rounded.rounded_to = DType::kBF16;
    push(rounded);
    code.program.outputs = {last};
    code.exact = gemms == 2;
    const std::string source = cuda_prelude() + hopper_prelude() +
                               emit_hopper_tiles("tiles", code, {gemms == 1 ? 128 : 96}) +
                               emit_hopper_tiles("tall", code, {96, 256}) +
                               emit_hopper_stream("stream", code, {}) +
                               emit_hopper_decode("decode", code, {});
    EXPECT_GT(assemble_cuda(source, "sm_90a").size(), 1000U);
  }
}

// Only where the result is rounded to bf16, and no function could amplify the error.
TEST(CudaCode, ApproximatesActivationsForBf16) {
  const auto is_fast = [](DType dtype, Function last, bool exact) {
    GemmCode code;
    code.n = 128;
    code.k = 64;
    code.dtype = dtype;
    code.outputs = {dtype};
    code.program.inputs = 1;
    code.program.steps = {{Function::kSilu, {{0, 0}}}, {last, {{1, 0}}}};
    code.program.outputs = {2};
    code.exact = exact;
    return emit_hopper_tiles("tiles", code, {}).find("FastActivations") != std::string::npos;
  };
  EXPECT_TRUE(is_fast(DType::kBF16, Function::kSilu, false));
  EXPECT_FALSE(is_fast(DType::kBF16, Function::kSilu, true));
  EXPECT_FALSE(is_fast(DType::kBF16, Function::kExp, false));
  EXPECT_FALSE(is_fast(DType::kF16, Function::kSilu, false));
}

TEST(CudaCode, NvrtcErrorThrowsBugErrorWithLog) {
  try {
    assemble_cuda("this is not CUDA", "sm_90a");
    FAIL() << "NVRTC compiled it";
  } catch (const BugError& error) {
    EXPECT_NE(std::string(error.what()).find("epilogue.cu(1): error"), std::string::npos)
        << error.what();
  }
}

#endif

}  // namespace
}  // namespace epi::compiler
