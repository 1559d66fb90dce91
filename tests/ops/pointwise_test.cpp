// SPDX-License-Identifier: Apache-2.0
// Pointwise operators over dtype, layout and shape. Special values: pointwise_special_test.cpp.
// Dense sweeps of the functions: pointwise_sweep_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"
#include "tests/ops/pointwise_cases.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

// Empty shapes, one element, no dimensions, remainders of a vector loop, three dimensions.
const std::vector<Dims> kShapes = {{},   {0},   {1},   {3},    {7},     {17},     {63},
                                   {65}, {127}, {129}, {4, 0}, {17, 3}, {1, 129}, {2, 3, 33}};
// Large enough to be split over threads.
const Dims kLarge = {67, 1001};

class UnaryOp : public ::testing::TestWithParam<std::tuple<UnaryCase, DType>> {
 protected:
  static void expect_reference(const Dims& shape, LayoutKind kind, uint64_t seed) {
    const auto& [op, dtype] = GetParam();
    const Tensor x = random_tensor(shape, dtype, kind, seed);
    const Tensor got = op.run(x);
    EXPECT_TRUE(matches(got, op.reference(ref::read(x)), op.op_class)) << name(kind);
    EXPECT_EQ(got.dtype(), dtype);
    EXPECT_TRUE(got.is_contiguous());
  }
};
INSTANTIATE_TEST_SUITE_P(Numbers, UnaryOp, ::testing::ValuesIn(unary_cases_by_dtype()),
                         case_name<UnaryOp>);

TEST_P(UnaryOp, MatchesReferenceInEveryLayoutAndShape) {
  uint64_t seed = 0;
  for (const Dims& shape : kShapes) {
    for (const LayoutKind kind : kAllLayouts) expect_reference(shape, kind, ++seed);
  }
}

TEST_P(UnaryOp, MatchesReferenceAcrossThreads) {
  for (const LayoutKind kind :
       {LayoutKind::kContiguous, LayoutKind::kTransposed, LayoutKind::kBroadcastOuter}) {
    expect_reference(kLarge, kind, 5);
  }
}

struct ShapePair {
  Dims left;
  Dims right;
};
// Equal shapes, a row, a column, both, a scalar, one element, empty shapes, and batches.
const std::vector<ShapePair> kPairs = {{{17, 33}, {17, 33}},
                                       {{17, 33}, {33}},
                                       {{33}, {17, 33}},
                                       {{17, 33}, {17, 1}},
                                       {{17, 1}, {1, 33}},
                                       {{17, 33}, {}},
                                       {{}, {17, 33}},
                                       {{}, {}},
                                       {{1}, {1}},
                                       {{0}, {0}},
                                       {{0, 3}, {1, 3}},
                                       {{1}, {0}},
                                       {{129}, {129}},
                                       {{2, 1, 5}, {1, 3, 1}},
                                       {{4, 3, 1}, {3, 7}},
                                       {{1, 1}, {5}},
                                       {{2, 3, 4, 5}, {4, 1}}};

class BinaryOp : public ::testing::TestWithParam<std::tuple<BinaryCase, DType>> {
 protected:
  static void expect_reference(const ShapePair& shapes, LayoutKind left, LayoutKind right) {
    const auto& [op, dtype] = GetParam();
    const Tensor x = random_tensor(shapes.left, dtype, left, 7);
    const Tensor y = random_tensor(shapes.right, dtype, right, 8);
    const Tensor got = op.run(x, y);
    EXPECT_TRUE(matches(got, op.reference(ref::read(x), ref::read(y)), op.op_class))
        << to_string(shapes.left) << " " << name(left) << ", " << to_string(shapes.right) << " "
        << name(right);
    EXPECT_EQ(got.dtype(), dtype);
    EXPECT_TRUE(got.is_contiguous());
  }
};
INSTANTIATE_TEST_SUITE_P(Numbers, BinaryOp, ::testing::ValuesIn(binary_cases_by_dtype()),
                         case_name<BinaryOp>);

TEST_P(BinaryOp, BroadcastsAnyPairOfLayouts) {
  for (const ShapePair& shapes : kPairs) {
    for (const LayoutKind left : kAllLayouts) {
      for (const LayoutKind right : kAllLayouts) expect_reference(shapes, left, right);
    }
  }
}

TEST_P(BinaryOp, MatchesReferenceAcrossThreads) {
  expect_reference({kLarge, kLarge}, LayoutKind::kContiguous, LayoutKind::kContiguous);
  expect_reference({kLarge, kLarge}, LayoutKind::kTransposed, LayoutKind::kContiguous);
  expect_reference({kLarge, {1001}}, LayoutKind::kContiguous, LayoutKind::kContiguous);
  expect_reference({{67, 1}, kLarge}, LayoutKind::kContiguous, LayoutKind::kStepped);
}

TEST_P(BinaryOp, AcceptsScalarOnTheRight) {
  const auto& [op, dtype] = GetParam();
  for (const LayoutKind kind : kAllLayouts) {
    const Tensor x = random_tensor({17, 33}, dtype, kind, 9);
    const RefTensor want = op.reference(ref::read(x), ref::scalar(-3));
    EXPECT_TRUE(matches(op.run_scalar(x, -3), want, op.op_class)) << name(kind);
  }
}

// As in ATen, scalars have the precision of the computation, not that of the tensor's dtype.
TEST(Arithmetic, DoesNotRoundScalarsToSixteenBits) {
  for (const DType dtype : kFloats) {
    const Tensor x = random_tensor({129}, dtype, LayoutKind::kContiguous, 9);
    const RefTensor in = ref::read(x);
    const double tenth = dtype == DType::kF64 ? 0.1 : 0.1F;
    const RefTensor scalar = ref::scalar(tenth);
    EXPECT_TRUE(matches(mul(x, 0.1), ref::mul(in, scalar), OpClass::kArithmetic)) << name(dtype);
    EXPECT_TRUE(matches(div(x, 0.1), ref::div(in, scalar), OpClass::kArithmetic)) << name(dtype);
    EXPECT_TRUE(matches(add(x, 0.1), ref::add(in, scalar), OpClass::kArithmetic)) << name(dtype);
    EXPECT_TRUE(matches(sub(x, 1, 0.1), ref::sub(in, scalar), OpClass::kArithmetic)) << name(dtype);
  }
}

// One operation rounds once, so the result equals the C++ expression bit for bit.
TEST(Arithmetic, F32MatchesCppBitForBit) {
  const Tensor x = randn({4099}, 1);
  const Tensor y = randn({4099}, 2);
  const Tensor u = on_test_device(x);
  const Tensor v = on_test_device(y);
  const Tensor results[] = {on_host(add(u, v)), on_host(sub(u, v)), on_host(mul(u, v)),
                            on_host(div(u, v))};
  for (int64_t i = 0; i < x.numel(); ++i) {
    const float a = x.data<float>()[i];
    const float b = y.data<float>()[i];
    const float want[] = {a + b, a - b, a * b, a / b};
    for (size_t op = 0; op < 4; ++op) ASSERT_EQ(results[op].data<float>()[i], want[op]) << op;
  }
}

TEST(Arithmetic, KeepsLargeIntegersExact) {
  const int64_t large = (int64_t{1} << 60) + 1;
  const std::vector<int64_t> values(9, large);
  const Tensor x = on_test_device(from_data<int64_t>(values, {9}));
  const auto at = [](const Tensor& y, int64_t i) { return on_host(y).data<int64_t>()[i]; };
  for (int64_t i = 0; i < 9; ++i) {
    EXPECT_EQ(at(add(x, x), i), 2 * large);
    EXPECT_EQ(at(add(x, 2), i), large + 2);
    EXPECT_EQ(at(sub(x, x, 3), i), -2 * large);
    EXPECT_EQ(at(mul(x, -1), i), -large);
    EXPECT_EQ(at(neg(x), i), -large);
    EXPECT_EQ(at(relu(x), i), large);
  }
}

TEST(Arithmetic, AcceptsAliasedOperands) {
  const Tensor x = random_tensor({17, 33}, DType::kF32, LayoutKind::kTransposed, 3);
  const RefTensor in = ref::read(x);
  EXPECT_TRUE(matches(mul(x, x), ref::mul(in, in), OpClass::kArithmetic));
  EXPECT_TRUE(same(sub(x, x), ref::sub(in, in)));
  const Tensor square = random_tensor({33, 33}, DType::kF32, LayoutKind::kContiguous, 4);
  const RefTensor values = ref::read(square);
  EXPECT_TRUE(matches(add(square, t(square)), ref::add(values, ref::transpose(values, 0, 1)),
                      OpClass::kArithmetic));
}

}  // namespace
}  // namespace epi
