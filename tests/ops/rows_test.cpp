// SPDX-License-Identifier: Apache-2.0
// Operators on whole rows: softmax, layer_norm, rms_norm.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const std::vector<Dims> kShapes = {{1},      {7},          {129},  {17, 65}, {3, 7, 33},
                                   {65, 17}, {2, 3, 5, 4}, {0, 5}, {5, 1}};
// Large enough to be split over threads.
const Dims kLarge = {67, 1001};

class Softmax : public ::testing::TestWithParam<DType> {
 protected:
  static void expect_reference(const Dims& shape, LayoutKind kind) {
    const Tensor x = random_tensor(shape, GetParam(), kind, 1);
    for (int dim = 0; dim < shape.rank(); ++dim) {
      const RefTensor want = ref::softmax(ref::read(x), dim);
      EXPECT_TRUE(matches(softmax(x, dim - shape.rank()), want, OpClass::kReduction))
          << to_string(shape) << " over " << dim << " " << name(kind);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, Softmax, ::testing::ValuesIn(kFloats), dtype_label);

TEST_P(Softmax, MatchesReferenceOverAnyDimensionAndLayout) {
  for (const Dims& shape : kShapes) {
    for (const LayoutKind kind : kAllLayouts) expect_reference(shape, kind);
  }
}

TEST_P(Softmax, MatchesReferenceAcrossThreads) {
  expect_reference(kLarge, LayoutKind::kContiguous);
  expect_reference(kLarge, LayoutKind::kTransposed);
}

// Depending on the length, the GPU kernels use a warp, a block or a larger block per row, and keep
// the row in shared memory if it fits.
const std::vector<int64_t> kRowLengths = {1024, 1025, 4096, 8193, 12288, 12289, 40000};

TEST_P(Softmax, MatchesReferenceInRowsOfEveryLength) {
  for (const int64_t length : kRowLengths) {
    expect_reference({3, length}, LayoutKind::kContiguous);
    expect_reference({2, length}, LayoutKind::kSliced);
  }
}

TEST_P(Softmax, RowsOfATransposedViewSumToOne) {
  const Tensor x = random_tensor({33, 65}, GetParam(), LayoutKind::kTransposed, 2);
  const RefTensor total = ref::sum(ref::read(softmax(x, 1)), {1});
  // 65 values, each with an error of half an ulp of a value below 1/2.
  const double allowed = 65 * half_ulp(GetParam(), 0.25) + 1e-13;
  for (const double row : total.values) EXPECT_NEAR(row, 1, allowed);
}

TEST_P(Softmax, DoesNotOverflowForHugeInputs) {
  const double big = GetParam() == DType::kF16 ? 30000 : 1e30;
  const Tensor x = tensor_of({big, big, -big, big, -big, big}, {2, 3}, GetParam());
  EXPECT_TRUE(same(softmax(x, 1), {{2, 3}, {0.5, 0.5, 0, 0.5, 0, 0.5}}));
}

TEST_P(Softmax, MaskedElementsBecomeZero) {
  const Tensor x = tensor_of({-kInf, 1, -kInf, 1, 2, -kInf, 2, 2}, {2, 4}, GetParam());
  const Tensor got = softmax(x, 1);
  EXPECT_TRUE(matches(got, ref::softmax(ref::read(x), 1), OpClass::kReduction));
  const RefTensor values = ref::read(got);
  for (const size_t masked : {0U, 2U, 5U}) EXPECT_EQ(values.values[masked], 0);
}

TEST_P(Softmax, NaNOrFullyMaskedRowDoesNotAffectOthers) {
  for (const double bad : {kNaN, -kInf}) {
    std::vector<double> values(3 * 33, 0);
    for (size_t i = 33; i < 66; ++i) values[i] = std::isnan(bad) && i != 50 ? 0 : bad;
    const Tensor x = tensor_of(values, {3, 33}, GetParam());
    const RefTensor want = ref::softmax(ref::read(x), 1);
    EXPECT_TRUE(matches(softmax(x, 1), want, OpClass::kReduction)) << bad;
    EXPECT_TRUE(matches(softmax(clone(t(x)), 0), ref::transpose(want, 0, 1), OpClass::kReduction))
        << bad;
  }
}

TEST_P(Softmax, ScalarGivesOne) {
  EXPECT_TRUE(same(softmax(full({}, 5, {GetParam(), test_device()}), 0), ref::scalar(1)));
}

class Norm : public ::testing::TestWithParam<DType> {
 protected:
  // Checks both norms of `x` over its last dimensions, with and without weight and bias.
  static void expect_reference(const Tensor& x, const Dims& normalized, LayoutKind kind) {
    const Tensor weight = random_tensor(normalized, GetParam(), kind, 3);
    const Tensor bias = random_tensor(normalized, GetParam(), kind, 4);
    const RefTensor in = ref::read(x);
    const RefTensor w = ref::read(weight);
    const RefTensor b = ref::read(bias);
    const int64_t n = numel(normalized);
    const auto expect = [&](const Tensor& got, const RefTensor& want, const char* what) {
      EXPECT_TRUE(matches(got, want, OpClass::kReduction))
          << what << " " << to_string(x.shape()) << " over " << n << " " << name(kind);
    };
    expect(layer_norm(x, normalized), ref::layer_norm(in, n, nullptr, nullptr, 1e-5), "plain");
    expect(layer_norm(x, normalized, weight), ref::layer_norm(in, n, &w, nullptr, 1e-5), "weight");
    expect(layer_norm(x, normalized, {}, bias), ref::layer_norm(in, n, nullptr, &b, 1e-5), "bias");
    expect(layer_norm(x, normalized, weight, bias, 0.5), ref::layer_norm(in, n, &w, &b, 0.5),
           "all");
    const double smallest = GetParam() == DType::kF64 ? 0x1p-52 : 0x1p-23;
    expect(rms_norm(x, normalized), ref::rms_norm(in, n, nullptr, smallest), "rms");
    expect(rms_norm(x, normalized, weight, 0.5), ref::rms_norm(in, n, &w, 0.5), "rms weight");
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, Norm, ::testing::ValuesIn(kFloats), dtype_label);

TEST_P(Norm, MatchesReferenceInEveryLayout) {
  for (const Dims& shape : kShapes) {
    for (const LayoutKind kind : kAllLayouts) {
      const Tensor x = random_tensor(shape, GetParam(), kind, 5);
      expect_reference(x, {shape.back()}, kind);
    }
  }
}

TEST_P(Norm, MatchesReferenceAcrossThreads) {
  for (const LayoutKind kind : {LayoutKind::kContiguous, LayoutKind::kTransposed}) {
    expect_reference(random_tensor(kLarge, GetParam(), kind, 5), {kLarge.back()}, kind);
  }
}

TEST_P(Norm, MatchesReferenceInRowsOfEveryLength) {
  for (const int64_t length : kRowLengths) {
    for (const LayoutKind kind : {LayoutKind::kContiguous, LayoutKind::kSliced}) {
      expect_reference(random_tensor({3, length}, GetParam(), kind, 5), {length}, kind);
    }
  }
}

TEST_P(Norm, NormalizesSeveralDimensions) {
  for (const LayoutKind kind : kAllLayouts) {
    const Tensor x = random_tensor({4, 5, 6}, GetParam(), kind, 6);
    expect_reference(x, {5, 6}, kind);
    expect_reference(x, {4, 5, 6}, kind);
  }
}

// With mean 1000 and standard deviation 1, E[x^2] - E[x]^2 in f32 has an error of 0.1.
TEST(LayerNorm, StaysAccurateForLargeMeans) {
  const Tensor x = add(on_test_device(randn({5, 257}, 7)), 1000);
  const RefTensor want = ref::layer_norm(ref::read(x), 257, nullptr, nullptr, 1e-5);
  const RefTensor got = ref::read(layer_norm(x, {257}));
  for (size_t i = 0; i < want.values.size(); ++i) {
    ASSERT_NEAR(got.values[i], want.values[i], 2e-3) << i;
  }
}

TEST(LayerNorm, EqualValuesGiveBias) {
  // 64 columns: the mean is exact even if it is computed as a multiplication by 1/64.
  const Tensor bias = on_test_device(randn({64}, 8));
  const Tensor got =
      layer_norm(on_test_device(full({3, 64}, 4)), {64}, on_test_device(randn({64}, 9)), bias);
  EXPECT_TRUE(same(got, ref::expand(ref::read(bias), {3, 64})));
}

TEST(RmsNorm, HandlesZerosAndLargeF16Values) {
  EXPECT_TRUE(
      same(rms_norm(on_test_device(zeros({3, 65})), {65}), ref::expand(ref::scalar(0), {3, 65})));
  // The square of 60000 exceeds the range of f16.
  const Tensor large = full({2, 65}, 60000, {DType::kF16, test_device()});
  EXPECT_TRUE(same(rms_norm(large, {65}), ref::expand(ref::scalar(1), {2, 65})));
}

TEST(Norms, NaNAffectsOnlyItsRow) {
  std::vector<double> values(3 * 17, 1);
  for (size_t i = 0; i < values.size(); ++i) values[i] += static_cast<double>(i % 5);
  values[20] = kNaN;
  const Tensor x = tensor_of(values, {3, 17}, DType::kF32);
  const RefTensor in = ref::read(x);
  EXPECT_TRUE(matches(layer_norm(x, {17}), ref::layer_norm(in, 17, nullptr, nullptr, 1e-5),
                      OpClass::kReduction));
  EXPECT_TRUE(
      matches(rms_norm(x, {17}), ref::rms_norm(in, 17, nullptr, 0x1p-23), OpClass::kReduction));
}

}  // namespace
}  // namespace epi
