// SPDX-License-Identifier: Apache-2.0
// `matmul` and `linear`: inputs of any rank, computed with views around mm, addmm and bmm.
#include <gtest/gtest.h>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

class Matmul : public ::testing::TestWithParam<DType> {
 protected:
  static void expect_matmul(const Dims& left, const Dims& right, LayoutKind kind) {
    const Tensor a = random_tensor(left, GetParam(), kind, 1);
    const Tensor b = random_tensor(right, GetParam(), kind, 2);
    const RefTensor want = ref::matmul(ref::read(a), ref::read(b));
    EXPECT_TRUE(matches(matmul(a, b), want, OpClass::kGemm))
        << to_string(left) << " @ " << to_string(right) << " " << name(kind);
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, Matmul, ::testing::ValuesIn(kFloats), dtype_label);

TEST_P(Matmul, MultipliesVectorsAndMatrices) {
  for (const LayoutKind kind : kAllLayouts) {
    expect_matmul({17}, {17}, kind);
    expect_matmul({17}, {17, 5}, kind);
    expect_matmul({5, 17}, {17}, kind);
    expect_matmul({5, 17}, {17, 3}, kind);
    expect_matmul({1}, {1}, kind);
  }
}

TEST_P(Matmul, BroadcastsBatches) {
  for (const LayoutKind kind : kAllLayouts) {
    expect_matmul({3, 5, 7}, {7}, kind);
    expect_matmul({7}, {3, 7, 5}, kind);
    expect_matmul({3, 5, 7}, {7, 9}, kind);
    expect_matmul({5, 7}, {3, 7, 9}, kind);
    expect_matmul({3, 5, 7}, {3, 7, 9}, kind);
    expect_matmul({1, 5, 7}, {3, 7, 9}, kind);
    expect_matmul({2, 1, 5, 7}, {3, 7, 9}, kind);
    expect_matmul({2, 3, 5, 7}, {1, 1, 7, 9}, kind);
    expect_matmul({2, 1, 1, 5, 7}, {3, 1, 7, 9}, kind);
  }
}

TEST_P(Matmul, HandlesEmptyTensors) {
  for (const LayoutKind kind : {LayoutKind::kContiguous, LayoutKind::kTransposed}) {
    expect_matmul({0}, {0}, kind);
    expect_matmul({0, 7}, {7, 3}, kind);
    expect_matmul({5, 0}, {0, 3}, kind);
    expect_matmul({3, 5, 0}, {0, 9}, kind);
    expect_matmul({0, 5, 7}, {7, 9}, kind);
    expect_matmul({0, 5, 7}, {0, 7, 9}, kind);
    expect_matmul({1, 5, 7}, {0, 7, 9}, kind);
    expect_matmul({3, 5, 7}, {3, 7, 0}, kind);
  }
}

class Linear : public ::testing::TestWithParam<DType> {
 protected:
  static constexpr int64_t kIn = 33;
  static constexpr int64_t kOut = 17;

  static void expect_linear(const Dims& shape, LayoutKind kind) {
    const Tensor x = random_tensor(shape, GetParam(), kind, 3);
    const Tensor weight = random_tensor({kOut, kIn}, GetParam(), kind, 4);
    const Tensor bias = random_tensor({kOut}, GetParam(), kind, 5);
    const RefTensor rx = ref::read(x);
    const RefTensor rw = ref::read(weight);
    EXPECT_TRUE(matches(linear(x, weight), ref::linear(rx, rw), OpClass::kGemm))
        << to_string(shape) << " " << name(kind);
    // The bias is added before the result is rounded, once.
    EXPECT_TRUE(
        matches(linear(x, weight, bias), ref::linear(rx, rw, ref::read(bias)), OpClass::kGemm))
        << to_string(shape) << " " << name(kind) << " with bias";
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, Linear, ::testing::ValuesIn(kFloats), dtype_label);

TEST_P(Linear, TransformsLastDimensionOfAnyInput) {
  const std::vector<Dims> shapes = {{kIn},       {1, kIn},       {4, kIn}, {9, kIn},    {2, 3, kIn},
                                    {3, 1, kIn}, {2, 3, 5, kIn}, {0, kIn}, {2, 0, kIn}, {129, kIn}};
  for (const Dims& shape : shapes) {
    for (const LayoutKind kind : kAllLayouts) expect_linear(shape, kind);
  }
}

TEST_P(Linear, WithoutInputFeaturesReturnsBias) {
  const TensorOptions options{GetParam(), test_device()};
  const Tensor bias = random_tensor({5}, GetParam(), LayoutKind::kContiguous, 6);
  const Tensor got = linear(zeros({2, 3, 0}, options), zeros({5, 0}, options), bias);
  EXPECT_TRUE(same(got, ref::expand(ref::read(bias), {2, 3, 5})));
  EXPECT_TRUE(same(linear(zeros({3, 0}, options), zeros({5, 0}, options)),
                   ref::expand(ref::scalar(0), {3, 5})));
}

TEST_P(Linear, WithoutOutputFeaturesIsEmpty) {
  const TensorOptions options{GetParam(), test_device()};
  EXPECT_EQ(linear(zeros({3, 5}, options), zeros({0, 5}, options)).shape(), (Dims{3, 0}));
  const Tensor got = linear(zeros({2, 3, 5}, options), zeros({0, 5}, options), zeros({0}, options));
  EXPECT_EQ(got.shape(), (Dims{2, 3, 0}));
}

}  // namespace
}  // namespace epi
