// SPDX-License-Identifier: Apache-2.0
// sum, mean and amax over any set of dimensions. softmax and the norms: rows_test.cpp.
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

// Every set of dimensions of a tensor, including the empty one, which means all.
std::vector<Dims> subsets(int rank) {
  std::vector<Dims> all;
  for (int mask = 0; mask < 1 << rank; ++mask) {
    Dims dims;
    for (int d = 0; d < rank; ++d) {
      if ((mask >> d & 1) != 0) dims.push_back(d);
    }
    all.push_back(dims);
  }
  return all;
}

class Reduction : public ::testing::TestWithParam<DType> {
 protected:
  static void expect_reference(const Tensor& x, const Dims& dims, bool keepdim) {
    const RefTensor in = ref::read(x);
    const std::string what = to_string(x.shape()) + " over " + to_string(dims);
    const Tensor total = sum(x, dims, keepdim);
    EXPECT_TRUE(matches(total, ref::sum(in, dims, keepdim), OpClass::kReduction)) << what;
    EXPECT_EQ(total.dtype(), is_floating(x.dtype()) ? x.dtype() : DType::kI64);
    if (x.dtype() == DType::kBool || x.dtype() == DType::kI8) return;
    EXPECT_TRUE(same(amax(x, dims, keepdim), ref::amax(in, dims, keepdim))) << what;
    if (!is_floating(x.dtype())) return;
    const RefTensor average = ref::mean(in, dims, keepdim);
    EXPECT_TRUE(matches(mean(x, dims, keepdim), average, OpClass::kReduction)) << what;
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, Reduction, ::testing::ValuesIn(kAllDTypes), dtype_label);

TEST_P(Reduction, MatchesReferenceOverAnyDimensionsAndLayout) {
  for (const Dims& shape :
       {Dims{}, Dims{1}, Dims{129}, Dims{17, 65}, Dims{3, 7, 33}, Dims{2, 3, 1, 5}}) {
    for (const LayoutKind kind : kAllLayouts) {
      const Tensor x = random_tensor(shape, GetParam(), kind, 1);
      for (const Dims& dims : subsets(shape.rank())) {
        SCOPED_TRACE(name(kind));
        expect_reference(x, dims, true);
        expect_reference(x, dims, false);
      }
    }
  }
}

TEST_P(Reduction, MatchesReferenceAcrossThreads) {
  for (const LayoutKind kind : {LayoutKind::kContiguous, LayoutKind::kTransposed}) {
    const Tensor x = random_tensor({131, 1001}, GetParam(), kind, 2);
    for (const Dims& dims : subsets(2)) expect_reference(x, dims, false);
  }
}

TEST_P(Reduction, AcceptsNegativeDimensionsInAnyOrder) {
  const Tensor x = random_tensor({3, 5, 7}, GetParam(), LayoutKind::kContiguous, 3);
  const RefTensor want = ref::sum(ref::read(x), {0, 2});
  EXPECT_TRUE(matches(sum(x, {-1, 0}), want, OpClass::kReduction));
  EXPECT_TRUE(matches(sum(x, {2, -3}), want, OpClass::kReduction));
}

TEST_P(Reduction, AcceptsDimensionZeroOfScalar) {
  const Tensor x = random_tensor({}, GetParam(), LayoutKind::kSliced, 4);
  EXPECT_TRUE(same(sum(x, {0}), ref::read(x)));
  EXPECT_TRUE(same(sum(x, {-1}, true), ref::read(x)));
}

TEST_P(Reduction, SumOfEmptyDimensionIsZero) {
  const Tensor x = zeros({3, 0, 2}, {GetParam(), test_device()});
  EXPECT_TRUE(same(sum(x), ref::scalar(0)));
  EXPECT_TRUE(same(sum(x, {1}), ref::expand(ref::scalar(0), {3, 2})));
  EXPECT_TRUE(same(sum(x, {1}, true), ref::expand(ref::scalar(0), {3, 1, 2})));
  EXPECT_TRUE(same(sum(x, {0}), {{0, 2}, {}}));
}

TEST(Mean, EmptyDimensionGivesNaN) {
  for (const DType dtype : kFloats) {
    const Tensor x = zeros({3, 0}, {dtype, test_device()});
    EXPECT_TRUE(same(mean(x), ref::scalar(kNaN))) << name(dtype);
    EXPECT_TRUE(same(mean(x, {1}), {{3}, {kNaN, kNaN, kNaN}})) << name(dtype);
    EXPECT_TRUE(same(mean(x, {0}), {{0}, {}})) << name(dtype);
  }
}

TEST(Amax, NonEmptyDimensionOfEmptyTensorIsEmpty) {
  EXPECT_TRUE(same(amax(zeros({3, 0}, {DType::kF32, test_device()}), {0}), {{0}, {}}));
  EXPECT_TRUE(same(amax(zeros({0, 3}, {DType::kF32, test_device()}), {1}, true), {{0, 1}, {}}));
}

TEST(Amax, PropagatesNaNFromAnyPosition) {
  for (const DType dtype : kFloats) {
    for (const size_t at : {0U, 1U, 15U, 16U, 31U, 32U, 66U}) {
      std::vector<double> values(67, 1);
      values[at] = kNaN;
      values[(at + 1) % 67] = kInf;
      const Tensor x = tensor_of(values, {67, 1}, dtype);
      EXPECT_TRUE(same(amax(x), ref::scalar(kNaN))) << name(dtype) << " " << at;
      EXPECT_TRUE(same(amax(t(x), {1}), {{1}, {kNaN}})) << name(dtype) << " " << at;
      EXPECT_TRUE(same(amax(expand(x, {67, 5}), {0}), ref::expand(ref::scalar(kNaN), {5})));
    }
  }
}

TEST(Amax, HandlesNegativeValues) {
  for (const DType dtype : kNumbers) {
    const std::vector<double> values(67, -5);
    EXPECT_TRUE(same(amax(tensor_of(values, {67}, dtype)), ref::scalar(-5))) << name(dtype);
  }
  for (const DType dtype : kFloats) {
    const Tensor x = full({67}, -kInf, {dtype, test_device()});
    EXPECT_TRUE(same(amax(x), ref::scalar(-kInf))) << name(dtype);
  }
}

TEST(Amax, ComparesLargeIntegersExactly) {
  const int64_t large = int64_t{1} << 60;
  const std::vector<int64_t> values = {large, large + 1, large - 1};
  const Tensor x = on_test_device(from_data<int64_t>(values, {3}));
  EXPECT_EQ(on_host(amax(x)).data<int64_t>()[0], large + 1);
}

TEST(Sum, AccumulatesIntegersInI64) {
  const std::vector<int64_t> large = {(int64_t{1} << 60) + 1, 1, 1};
  const Tensor x = on_test_device(from_data<int64_t>(large, {3}));
  EXPECT_EQ(on_host(sum(x)).data<int64_t>()[0], (int64_t{1} << 60) + 3);
  const std::vector<int32_t> full_range(5, std::numeric_limits<int32_t>::max());
  const Tensor y = on_test_device(from_data<int32_t>(full_range, {5}));
  EXPECT_EQ(on_host(sum(y)).data<int64_t>()[0], 5 * int64_t{std::numeric_limits<int32_t>::max()});
}

TEST(Sum, CountsTrueElements) {
  const Tensor x = full({300, 7}, 1, {DType::kBool, test_device()});
  EXPECT_TRUE(same(sum(x), ref::scalar(2100)));
  EXPECT_TRUE(same(sum(x, {0}), ref::expand(ref::scalar(300), {7})));
}

// Accumulated in the 16-bit dtype, a sum of ones would stop growing at 256 (bf16) or 2048 (f16).
TEST(Sum, AccumulatesSixteenBitFloatsInF32) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const Tensor x = full({5000, 3}, 1, {dtype, test_device()});
    const double want = ref::rounded(5000, dtype);
    EXPECT_TRUE(same(sum(x, {0}), ref::expand(ref::scalar(want), {3}))) << name(dtype);
    EXPECT_TRUE(same(sum(t(x), {1}), ref::expand(ref::scalar(want), {3}))) << name(dtype);
    EXPECT_TRUE(same(mean(x), ref::scalar(1))) << name(dtype);
  }
}

// 65504 is the largest f16: the sum behind its mean must not overflow.
TEST(Mean, DoesNotOverflowForLargestValues) {
  const Tensor x = full({100}, 65504, {DType::kF16, test_device()});
  EXPECT_TRUE(same(mean(x), ref::scalar(65504)));
}

}  // namespace
}  // namespace epi
