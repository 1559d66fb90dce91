// SPDX-License-Identifier: Apache-2.0
// What a kernel reports to a listener: its name, the bytes it moves, its FLOPs and its times.
#include <gtest/gtest.h>

#include <functional>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/recorder.h"

namespace epi {
namespace {

// Runs `call`, which must run exactly one kernel, and returns that kernel.
Recorder::Kernel only_kernel_of(const std::function<void()>& call) {
  const Recorder recorder;
  call();
  EXPECT_EQ(recorder.kernels().size(), 1) << recorder.tree();
  return recorder.kernels().empty() ? Recorder::Kernel{} : recorder.kernels().front();
}

TEST(KernelCost, GemmCountsItsThreeMatrices) {
  constexpr int64_t kM = 8;
  constexpr int64_t kN = 5;
  constexpr int64_t kK = 33;
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16}) {
    const Tensor a = zeros({kM, kK}, {dtype, kCpu});
    const Tensor b = zeros({kK, kN}, {dtype, kCpu});
    const auto kernel = only_kernel_of([&] { mm(a, b); });
    EXPECT_EQ(kernel.flops, 2 * kM * kN * kK) << name(dtype);
    EXPECT_EQ(kernel.bytes, (kM * kK + kK * kN + kM * kN) * size_bytes(dtype)) << name(dtype);
  }
}

TEST(KernelCost, BatchedGemmCountsEveryMatrix) {
  const auto kernel = only_kernel_of([] { bmm(zeros({3, 8, 33}), zeros({3, 33, 5})); });
  EXPECT_EQ(kernel.flops, 3 * 2 * 8 * 5 * 33);
  EXPECT_EQ(kernel.bytes, 3 * (8 * 33 + 33 * 5 + 8 * 5) * 4);
}

TEST(KernelCost, AddmmCountsBias) {
  const auto kernel = only_kernel_of([] { addmm(zeros({5}), zeros({8, 33}), zeros({33, 5})); });
  EXPECT_EQ(kernel.flops, 2 * 8 * 5 * 33 + 8 * 5);
  EXPECT_EQ(kernel.bytes, (8 * 33 + 33 * 5 + 5 + 8 * 5) * 4);
}

TEST(KernelCost, AddCountsThreeVectors) {
  const auto kernel = only_kernel_of([] { add(zeros({1000}), zeros({1000})); });
  EXPECT_EQ(kernel.flops, 1000);
  EXPECT_EQ(kernel.bytes, 12 * 1000);
  EXPECT_EQ(kernel.name, "pointwise_add_f32");
}

TEST(KernelCost, BroadcastOperandsCountEachElementOnce) {
  const int64_t bytes = (100 * 50 + 50 + 100 * 50) * 4;
  const auto row = only_kernel_of([] { mul(zeros({100, 50}), zeros({50})); });
  EXPECT_EQ(row.bytes, bytes);
  EXPECT_EQ(row.flops, 100 * 50);
  const Tensor expanded = expand(zeros({50}), {100, 50});
  EXPECT_EQ(only_kernel_of([&] { mul(zeros({100, 50}), expanded); }).bytes, bytes);
  EXPECT_EQ(only_kernel_of([] { mul(zeros({100, 50}), 2.0); }).bytes, 2 * 100 * 50 * 4);
}

TEST(KernelCost, CopiesHaveNoFlops) {
  const Tensor x = t(zeros({30, 40}));
  const auto copy = only_kernel_of([&] { clone(x); });
  EXPECT_EQ(copy.flops, 0);
  EXPECT_EQ(copy.bytes, 2 * 30 * 40 * 4);
  const auto conversion = only_kernel_of([&] { to(x, DType::kBF16); });
  EXPECT_EQ(conversion.flops, 0);
  EXPECT_EQ(conversion.bytes, 30 * 40 * (4 + 2));
  const std::vector<Tensor> parts = {zeros({2, 5}), zeros({3, 5})};
  EXPECT_EQ(only_kernel_of([&] { cat(parts); }).bytes, 2 * 5 * 5 * 4);
}

TEST(KernelCost, RowOperatorsCountReadsAndWrites) {
  const Tensor x = zeros({30, 40});
  const Tensor weight = zeros({40});
  EXPECT_EQ(only_kernel_of([&] { gelu(x); }).bytes, 2 * 1200 * 4);
  EXPECT_EQ(only_kernel_of([&] { softmax(x, 1); }).bytes, 2 * 1200 * 4);
  EXPECT_EQ(only_kernel_of([&] { sum(x, {1}); }).bytes, (1200 + 30) * 4);
  EXPECT_EQ(only_kernel_of([&] { amax(x, {0}); }).bytes, (1200 + 40) * 4);
  EXPECT_EQ(only_kernel_of([&] { mean(x); }).bytes, (1200 + 1) * 4);
  EXPECT_EQ(only_kernel_of([&] { rms_norm(x, {40}, weight); }).bytes, (2 * 1200 + 40) * 4);
  EXPECT_EQ(only_kernel_of([&] { layer_norm(x, {40}, weight, weight); }).bytes,
            (2 * 1200 + 80) * 4);
}

TEST(KernelNames, IdentifyCodeNotSizes) {
  const auto named = [](int64_t m, DType dtype, bool transpose_b) {
    const Tensor a = zeros({m, 33}, {dtype, kCpu});
    const Tensor b = transpose_b ? t(zeros({5, 33}, {dtype, kCpu})) : zeros({33, 5}, {dtype, kCpu});
    return only_kernel_of([&] { mm(a, b); }).name;
  };
  EXPECT_EQ(named(8, DType::kF32, true), "gemm_f32_tn");
  EXPECT_EQ(named(8, DType::kF32, false), "gemm_f32_nn");
  EXPECT_EQ(named(80, DType::kF32, true), named(8, DType::kF32, true));
  EXPECT_EQ(named(8, DType::kBF16, true), "gemm_bf16_tn");
  EXPECT_NE(named(1, DType::kF32, true), named(8, DType::kF32, true));  // one row runs a gemv
}

TEST(KernelTimes, LieWithinCallAndDoNotOverlap) {
  const Tensor x = randn({100, 100}, 1);
  const int64_t before = now_ns();
  const Recorder recorder;
  neg(x);
  exp(x);
  const int64_t after = now_ns();
  ASSERT_EQ(recorder.kernels().size(), 2);
  const auto& first = recorder.kernels()[0];
  const auto& second = recorder.kernels()[1];
  EXPECT_LE(before, first.start_ns);
  EXPECT_LE(first.start_ns, first.end_ns);
  EXPECT_LE(first.end_ns, second.start_ns);
  EXPECT_LE(second.end_ns, after);
}

// If a GEMM has to copy an operand, the copy is reported as a separate kernel.
TEST(Kernels, GemmWithCopyReportsTwoKernels) {
  const Tensor a = slice(zeros({8, 66}), 1, 0, 66, 2);
  const Tensor b = zeros({33, 5});
  const Recorder recorder;
  mm(a, b);
  EXPECT_EQ(recorder.kernels().size(), 2) << recorder.tree();
}

}  // namespace
}  // namespace epi
