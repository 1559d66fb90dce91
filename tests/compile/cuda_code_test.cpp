// SPDX-License-Identifier: Apache-2.0
// Generated CUDA C++: what it looks like, and that NVRTC takes it. Needs no GPU.
#include "epilogue/compile/codegen/cuda_code.h"

#include <gtest/gtest.h>

#ifdef EPI_HAS_CUDA
#include "epilogue/compile/codegen/nvrtc.h"
#endif

namespace epi::compiler {
namespace {

// gelu(in0) * in1, as the MLP has it.
PointwiseCode gelu_mul(DType dtype) {
  PointwiseCode code;
  code.outputs = {dtype};
  code.inputs = {{dtype, Along::kDense}, {dtype, Along::kDense}};
  code.program.inputs = 2;
  Step gelu{Op::kGelu, {{0, 0}}};
  gelu.by_tanh = true;
  code.program.steps = {gelu, {Op::kMul, {{2, 0}, {1, 0}}}};
  code.program.outputs = {3};
  return code;
}

TEST(CudaCode, ReadsAsOneWouldWriteIt) {
  const std::string text = emit_cuda_pointwise("epi_poi_fused_gelu_mul_0", gelu_mul(DType::kBF16));
  EXPECT_NE(text.find(R"(    const float v0 = to_float(in0.values[k]);
    const float v1 = to_float(in1.values[k]);
    const float v2 = gelu_tanh(v0);
    const float v3 = v2 * v1;
    out0.values[k] = rounded<bf16>(v3);
)"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("epi_poi_fused_gelu_mul_0_body<8>(walk);"), std::string::npos) << text;
}

TEST(CudaCode, MovesSixteenBytesOfTheWidestOperandAtOnce) {
  PointwiseCode code = gelu_mul(DType::kBF16);
  EXPECT_EQ(cuda_vector(code), 8);
  code.outputs = {DType::kF32};
  EXPECT_EQ(cuda_vector(code), 4);
}

#ifdef EPI_HAS_CUDA

TEST(CudaCode, OfEveryOperatorIsTakenByNvrtc) {
  PointwiseCode code;
  code.outputs = {DType::kF16, DType::kF32};
  code.inputs = {{DType::kBF16, Along::kDense}, {DType::kF32, Along::kBroadcast}};
  code.program.inputs = 2;
  int last = 1;
  const auto push = [&](Step step) {
    code.program.steps.push_back(std::move(step));
    last = code.program.inputs + static_cast<int>(code.program.steps.size()) - 1;
  };
  for (const Op op :
       {Op::kNeg, Op::kRelu, Op::kExp, Op::kTanh, Op::kSigmoid, Op::kSilu, Op::kGelu}) {
    push({op, {{last, 0}}});
  }
  push({Op::kAdd, {{last, 0}, {0, 0}, {-1, 1}}});
  push({Op::kSub, {{last, 0}, {-1, 1e30}, {-1, -2.5}}});
  push({Op::kMul, {{last, 0}, {-1, -3}}});
  push({Op::kDiv, {{last, 0}, {0, 0}}});
  Step rounded{Op::kCopy_, {{last, 0}}};
  rounded.rounded_to = DType::kBF16;
  push(rounded);
  code.program.outputs = {last, 4};
  const std::string source = cuda_prelude() + emit_cuda_pointwise("all", code);
  for (const char* architecture : {"sm_80", "sm_90a"}) {
    EXPECT_GT(assemble_cuda(source, architecture).size(), 1000U) << architecture;
  }
}

TEST(CudaCode, ThatNvrtcRefusesIsOurBugWithItsLog) {
  try {
    assemble_cuda("this is no CUDA", "sm_90a");
    FAIL() << "NVRTC took it";
  } catch (const BugError& error) {
    EXPECT_NE(std::string(error.what()).find("epilogue.cu(1): error"), std::string::npos)
        << error.what();
  }
}

#endif

}  // namespace
}  // namespace epi::compiler
