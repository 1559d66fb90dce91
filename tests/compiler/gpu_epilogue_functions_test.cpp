// SPDX-License-Identifier: Apache-2.0
// Every pointwise function as the epilogue of a GEMM on a Hopper GPU, over every 16-bit number. The
// GEMM multiplies by the identity matrix, so the epilogue reads the inputs unchanged.
#include <gtest/gtest.h>

#ifdef EPI_HAS_CUDA

#include "epilogue/compiler/compile.h"
#include "epilogue/tensor/factories.h"
#include "tests/compiler/with_hopper.h"
#include "tests/ops/compare.h"
#include "tests/ops/pointwise_cases.h"

namespace epi {
namespace {

constexpr DType kHalves[] = {DType::kBF16, DType::kF16};
// Row lengths: 64 gives many rows, which use tiles; 2048 gives few rows, which stream the weights.
constexpr int64_t kWidths[] = {64, 2048};

// Every finite number and a final row of NaN. Infinities and NaN are replaced by zeros in the other
// rows, because 0 * inf would turn a whole row into NaN.
Tensor every_number(DType dtype, int64_t width) {
  const Tensor x = zeros({(1 << 16) / width + 1, width}, {dtype, kCpu});
  auto* bits = reinterpret_cast<uint16_t*>(x.raw_data());
  const uint32_t exponent = dtype == DType::kBF16 ? 0x7f80 : 0x7c00;
  for (uint32_t pattern = 0; pattern < 1 << 16; ++pattern) {
    if ((pattern & exponent) != exponent) bits[pattern] = static_cast<uint16_t>(pattern);
  }
  for (int64_t i = 0; i < width; ++i) bits[(1 << 16) + i] = 0x7fff;
  return x;
}

Tensor identity(DType dtype, int64_t width) {
  const Tensor eye = zeros({width, width}, {dtype, kCpu});
  for (int64_t i = 0; i < width; ++i) copy_(select(select(eye, 0, i), 0, i), full({}, 1));
  return to(eye, kCuda);
}

// Epilogues compute everything but plain arithmetic with the special-function unit, and two
// activations in bf16 with its approximation of tanh.
OpClass epilogue_class(const UnaryCase& op, DType dtype) {
  const bool is_fast = op.function == Function::kSilu || op.function == Function::kGeluTanh;
  if (is_fast && dtype == DType::kBF16) return OpClass::kFastActivation;
  return op.op_class == OpClass::kPointwise || op.op_class == OpClass::kGelu
             ? OpClass::kHopperEpilogue
             : op.op_class;
}

class GpuEpilogue : public WithHopper {
 protected:
  // `function` of the GEMM result and the inputs, fused into one custom kernel.
  template <typename Function>
  static Tensor as_epilogue(Function function, const std::vector<Tensor>& in) {
    const Tensor weight = identity(in[0].dtype(), in[0].size(1));
    const Compiled compiled(
        [=](std::span<const Tensor> inputs) { return function(linear(inputs[0], weight), inputs); },
        {{"weight", weight}}, {});
    const Tensor result = to(compiled(in), kCpu);
    const std::vector<std::string> kernels = compiled.variants()[0].kernels;
    EXPECT_EQ(kernels.size(), 1);
    EXPECT_TRUE(kernels[0].starts_with("epi_tem_fused_")) << kernels[0];
    return result;
  }
};

class GpuUnaryEpilogue : public GpuEpilogue, public ::testing::WithParamInterface<UnaryCase> {};

TEST_P(GpuUnaryEpilogue, MatchesReferenceForEveryNumber) {
  const UnaryCase& op = GetParam();
  for (const DType dtype : kHalves) {
    for (const int64_t width : kWidths) {
      const Tensor x = every_number(dtype, width);
      const Tensor got =
          as_epilogue([&](const Tensor& gemm, std::span<const Tensor>) { return op.run(gemm); },
                      {to(x, kCuda)});
      const Tensor sums = add(x, 0.0);  // a GEMM adds 0 to -0, which rsqrt distinguishes
      EXPECT_TRUE(matches(got, op.reference(ref::read(sums)), epilogue_class(op, dtype)))
          << name(dtype) << ", rows of " << width;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, GpuUnaryEpilogue, ::testing::ValuesIn(kUnaryCases), unary_label);

class GpuBinaryEpilogue : public GpuEpilogue, public ::testing::WithParamInterface<BinaryCase> {};

TEST_P(GpuBinaryEpilogue, MatchesReferenceForEveryNumber) {
  const BinaryCase& op = GetParam();
  for (const DType dtype : kHalves) {
    for (const int64_t width : kWidths) {
      const Tensor x = every_number(dtype, width);
      const Tensor y = randn(x.shape(), 5, {dtype, kCpu});
      const Tensor got = as_epilogue(
          [&](const Tensor& gemm, std::span<const Tensor> in) { return op.run(gemm, in[1]); },
          {to(x, kCuda), to(y, kCuda)});
      EXPECT_TRUE(matches(got, op.reference(ref::read(x), ref::read(y)), op.op_class))
          << name(dtype) << ", rows of " << width;
      const Tensor by_number = as_epilogue(
          [&](const Tensor& gemm, std::span<const Tensor>) { return op.run_scalar(gemm, 1.5); },
          {to(x, kCuda)});
      EXPECT_TRUE(matches(by_number, op.reference(ref::read(x), ref::scalar(1.5)), op.op_class))
          << name(dtype) << ", rows of " << width << ", with a number";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, GpuBinaryEpilogue, ::testing::ValuesIn(kBinaryCases),
                         [](const auto& param) { return param.param.label; });

}  // namespace
}  // namespace epi

#endif
