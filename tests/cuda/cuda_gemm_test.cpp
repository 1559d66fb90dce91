// SPDX-License-Identifier: Apache-2.0
// GEMM features that the operator tests do not cover: activations in the epilogue, and tf32.
// Layouts, biases and odd sizes: tests/ops/gemms_test.cpp with EPI_TEST_DEVICE=cuda.
#include "epilogue/cuda/gemm.h"

#include <cmath>

#include "epilogue/cuda/tf32.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/cuda/with_device.h"

namespace epi::cuda {
namespace {

class CudaGemm : public WithDevice {
 protected:
  static constexpr int64_t kM = 96;
  static constexpr int64_t kN = 64;
  static constexpr int64_t kK = 128;

  // Compares activation(x @ w.t() + bias) in one GEMM with the operators in f64 on the CPU.
  static void expect_activation(DType dtype, Activation activation, bool with_bias) {
    const Tensor x = randn({kM, kK}, 1, {dtype, kCuda});
    const Tensor w = mul(randn({kN, kK}, 2, {dtype, kCuda}), 0.125);
    const Tensor bias = randn({kN}, 3, {dtype, kCuda});
    const Tensor out = full({kM, kN}, NAN, {dtype, kCuda});
    Gemm g;
    g.dtype = dtype;
    g.m = kM;
    g.n = kN;
    g.k = kK;
    g.a = as_matrix(x).value();
    g.b = as_matrix(t(w)).value();
    g.out = out.raw_data();
    g.ld_out = kN;
    g.activation = activation;
    if (with_bias) g.bias = bias.raw_data();
    ASSERT_TRUE(try_gemm(g, 0)) << name(dtype);
    const auto wide = [](const Tensor& y) { return to(to(y, kCpu), DType::kF64); };
    Tensor want = mm(wide(x), t(wide(w)));
    if (with_bias) want = add(want, wide(bias));
    want = activation == Activation::kRelu ? relu(want) : gelu(want, "tanh");
    const Tensor got = wide(out);
    // Rounded once to the dtype. cuBLASLt's gelu uses tanh of the special-function unit, which is
    // accurate to 2^-11 of 1.
    const double relative = dtype == DType::kBF16 ? 0x1p-8 : 0x1p-11;
    for (int64_t i = 0; i < want.numel(); ++i) {
      const double value = want.data<double>()[i];
      ASSERT_NEAR(got.data<double>()[i], value, relative * std::abs(value) + 0x1p-10) << i;
    }
  }
};

TEST_F(CudaGemm, AppliesActivationAndBiasInEpilogue) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const Activation activation : {Activation::kRelu, Activation::kGeluTanh}) {
      expect_activation(dtype, activation, true);
      expect_activation(dtype, activation, false);
    }
  }
}

// tf32 keeps 10 bits of each factor. The error of a sum of n terms grows like sqrt(n) 2^-11 of
// their magnitude. Without tf32 it is thousands of times smaller.
TEST_F(CudaGemm, UsesTf32OnlyIfAllowed) {
  const Tensor x = randn({256, 512}, 1);
  const Tensor w = randn({512, 256}, 2);
  const Tensor want = mm(to(x, DType::kF64), to(w, DType::kF64));
  const auto error = [&] {
    const Tensor got = to(to(mm(to(x, kCuda), to(w, kCuda)), kCpu), DType::kF64);
    double worst = 0;
    for (int64_t i = 0; i < want.numel(); ++i) {
      worst = std::max(worst, std::abs(got.data<double>()[i] - want.data<double>()[i]));
    }
    return worst;
  };
  const double exact = error();
  set_allow_tf32(true);
  const double rough = error();
  set_allow_tf32(false);
  EXPECT_LT(exact, 4 * std::sqrt(512) * 0x1p-24 * 16);
  EXPECT_LT(rough, 4 * std::sqrt(512) * 0x1p-11);
  EXPECT_GT(rough, 10 * exact);
}

TEST_F(CudaGemm, RejectsMismatchedSizes) {
  EXPECT_THROW(mm(zeros({2, 3}, {DType::kF32, kCuda}), zeros({4, 5}, {DType::kF32, kCuda})), Error);
}

}  // namespace
}  // namespace epi::cuda
