// SPDX-License-Identifier: Apache-2.0
// Pointwise operators at zeros, subnormals, huge values, infinities and NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"
#include "tests/ops/pointwise_cases.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Enough copies of a value to fill a vector register and leave a tail.
constexpr int64_t kCopies = 19;

class SpecialValue : public ::testing::TestWithParam<DType> {
 protected:
  static double smallest_normal() { return std::ldexp(1.0, float_format(GetParam()).min_exponent); }
  static double smallest() { return 2 * half_ulp(GetParam(), 0); }
  static double largest() { return float_format(GetParam()).max; }

  // op(value). Vector loops and tails must give the same result.
  static double at(Tensor (*op)(const Tensor&), double value) {
    const std::vector<double> copies(kCopies, value);
    const RefTensor out = ref::read(op(tensor_of(copies, {kCopies}, GetParam())));
    for (const double element : out.values) {
      EXPECT_TRUE(element == out.values[0] || std::isnan(value) || std::isnan(out.values[0]));
      EXPECT_EQ(std::isnan(element), std::isnan(out.values[0]));
    }
    return out.values.back();
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, SpecialValue, ::testing::ValuesIn(kFloats), dtype_label);

TEST_P(SpecialValue, NaNPropagates) {
  for (const UnaryCase& op : kUnaryCases) EXPECT_TRUE(std::isnan(at(op.run, kNaN))) << op.label;
  const Tensor x = full({kCopies}, kNaN, {GetParam(), test_device()});
  const Tensor y = full({kCopies}, 2, {GetParam(), test_device()});  // not 1: pow(1, NaN) is 1
  const RefTensor nan = ref::read(x);
  for (const BinaryCase& op : kBinaryCases) {
    EXPECT_TRUE(same(op.run(x, y), nan)) << op.label;
    EXPECT_TRUE(same(op.run(y, x), nan)) << op.label;
    EXPECT_TRUE(same(op.run_scalar(y, kNaN), nan)) << op.label;
  }
}

TEST_P(SpecialValue, NaNDoesNotAffectNeighbors) {
  for (const UnaryCase& op : kUnaryCases) {
    std::vector<double> values(65, 0.5);
    for (const size_t i : {0U, 17U, 64U}) values[i] = kNaN;
    const Tensor x = tensor_of(values, {65}, GetParam());
    EXPECT_TRUE(matches(op.run(x), op.reference(ref::read(x)), op.op_class)) << op.label;
  }
}

TEST_P(SpecialValue, ExpSaturatesToZeroAndInfinity) {
  EXPECT_EQ(at(exp, -kInf), 0);
  EXPECT_EQ(at(exp, kInf), kInf);
  EXPECT_EQ(at(exp, 0), 1);
  EXPECT_EQ(at(exp, -0.0), 1);
  EXPECT_EQ(at(exp, smallest()), 1);
  EXPECT_EQ(at(exp, -smallest_normal()), 1);
  EXPECT_EQ(at(exp, largest()), kInf);
  EXPECT_EQ(at(exp, -largest()), 0);
  EXPECT_EQ(at(exp, 1000), kInf);
  EXPECT_EQ(at(exp, -1000), 0);
  EXPECT_EQ(std::isinf(at(exp, 100)), GetParam() != DType::kF64);
}

TEST_P(SpecialValue, TanhAndSigmoidSaturate) {
  for (const double x : {kInf, largest(), 1000.0}) {
    EXPECT_EQ(at(tanh, x), 1) << x;
    EXPECT_EQ(at(tanh, -x), -1) << x;
    EXPECT_EQ(at(sigmoid, x), 1) << x;
    EXPECT_EQ(at(sigmoid, -x), 0) << x;
  }
  EXPECT_EQ(at(sigmoid, 0), 0.5);
}

TEST_P(SpecialValue, TanhKeepsSignedZeroAndSubnormals) {
  EXPECT_EQ(at(tanh, 0), 0);
  EXPECT_EQ(at(tanh, -0.0), 0);
  EXPECT_TRUE(std::signbit(at(tanh, -0.0)));
  EXPECT_EQ(at(tanh, smallest_normal()), smallest_normal());
  EXPECT_EQ(at(tanh, smallest()), smallest());
  EXPECT_EQ(at(tanh, -smallest()), -smallest());
}

TEST_P(SpecialValue, GatedActivationsApproachIdentityAndZero) {
  for (const UnaryCase& op : kUnaryCases) {
    const std::string label = op.label;
    if (label != "silu" && !label.starts_with("gelu")) continue;
    EXPECT_EQ(at(op.run, kInf), kInf) << label;
    EXPECT_EQ(at(op.run, 1000), ref::rounded(1000, GetParam())) << label;
    EXPECT_EQ(at(op.run, -1000), 0) << label;
    EXPECT_EQ(at(op.run, 0), 0) << label;
    EXPECT_EQ(at(op.run, -0.0), 0) << label;
    EXPECT_EQ(at(op.run, largest()), largest()) << label;
    EXPECT_EQ(at(op.run, -largest()), 0) << label;
    // The formula gives -inf * 0 = NaN, the limit is 0. Both are accepted.
    const double low = at(op.run, -kInf);
    EXPECT_TRUE(low == 0 || std::isnan(low)) << label << ": " << low;
  }
}

TEST_P(SpecialValue, SinAndCosOfZeroAndInfinity) {
  EXPECT_EQ(at(cos, 0), 1);
  EXPECT_EQ(at(cos, smallest()), 1);
  EXPECT_EQ(at(sin, smallest()), smallest());
  EXPECT_EQ(at(sin, -smallest_normal()), -smallest_normal());
  EXPECT_TRUE(std::signbit(at(sin, -0.0)));
  EXPECT_FALSE(std::signbit(at(sin, 0.0)));
  for (const double x : {kInf, -kInf}) {
    EXPECT_TRUE(std::isnan(at(sin, x)));
    EXPECT_TRUE(std::isnan(at(cos, x)));
  }
}

TEST_P(SpecialValue, RsqrtOfZeroInfinityAndNegativeNumbers) {
  EXPECT_EQ(at(rsqrt, 0.0), kInf);
  EXPECT_EQ(at(rsqrt, -0.0), -kInf);
  EXPECT_EQ(at(rsqrt, kInf), 0);
  EXPECT_EQ(at(rsqrt, 4), 0.5);
  EXPECT_TRUE(std::isnan(at(rsqrt, -1)));
}

// Every pair of these numbers, with the signs of zeros: as C's pow.
TEST_P(SpecialValue, PowFollowsC) {
  const std::vector<double> numbers = {0.0,       -0.0,       1,    -1,   2,    -2,   0.5,
                                       -0.5,      3,          -3,   1.5,  -1.5, kInf, -kInf,
                                       largest(), -largest(), kNaN, 1023, 1024, -129, smallest()};
  std::vector<double> left;
  std::vector<double> right;
  for (const double a : numbers) {
    for (const double b : numbers) {
      left.push_back(a);
      right.push_back(b);
    }
  }
  const auto count = std::ssize(left);
  const RefTensor x = ref::read(tensor_of(left, {count}, GetParam()));
  const RefTensor y = ref::read(tensor_of(right, {count}, GetParam()));
  const Tensor got =
      pow(tensor_of(left, {count}, GetParam()), tensor_of(right, {count}, GetParam()));
  const RefTensor want = ref::map(x, y, [](double a, double b) { return std::pow(a, b); });
  EXPECT_TRUE(matches(got, want, OpClass::kPointwise));
  const RefTensor values = ref::read(got);
  for (size_t i = 0; i < values.values.size(); ++i) {
    if (std::isnan(want.values[i])) continue;
    EXPECT_EQ(std::signbit(values.values[i]), std::signbit(want.values[i]))
        << "pow(" << x.values[i] << ", " << y.values[i] << ")";
    EXPECT_TRUE(matches(pow(tensor_of({left[i]}, {1}, GetParam()), y.values[i]),
                        {{1}, {want.values[i]}}, OpClass::kPointwise))
        << "pow(" << x.values[i] << ", " << y.values[i] << ")";
  }
}

TEST_P(SpecialValue, ReluKeepsSubnormalsAndInfinity) {
  EXPECT_EQ(at(relu, smallest()), smallest());
  EXPECT_EQ(at(relu, -smallest()), 0);
  EXPECT_EQ(at(relu, kInf), kInf);
  EXPECT_EQ(at(relu, -kInf), 0);
  EXPECT_EQ(at(relu, largest()), largest());
  EXPECT_EQ(at(relu, -0.0), 0);
}

TEST_P(SpecialValue, NegFlipsSignOfZero) {
  EXPECT_TRUE(std::signbit(at(neg, 0.0)));
  EXPECT_FALSE(std::signbit(at(neg, -0.0)));
  EXPECT_EQ(at(neg, smallest()), -smallest());
  EXPECT_EQ(at(neg, kInf), -kInf);
}

TEST_P(SpecialValue, ArithmeticFollowsIeee754) {
  const double tiny = smallest();
  const std::vector<double> left = {1, -1, 0, kInf, kInf, tiny, largest(), 0.0, tiny, -tiny};
  const std::vector<double> right = {0, 0, 0, -kInf, 0, tiny, largest(), -0.0, 2, tiny};
  const auto count = std::ssize(left);
  const Tensor x = tensor_of(left, {count}, GetParam());
  const Tensor y = tensor_of(right, {count}, GetParam());
  for (const BinaryCase& op : kBinaryCases) {
    // Whether alpha * y overflows before the addition depends on whether
    // the machine has fused multiply-add.
    if (std::string_view(op.label).ends_with("Alpha")) continue;
    const RefTensor want = op.reference(ref::read(x), ref::read(y));
    EXPECT_TRUE(matches(op.run(x, y), want, op.op_class)) << op.label;
  }
  EXPECT_TRUE(same(add(x, 0), ref::read(x)));  // subnormals are not flushed
  EXPECT_TRUE(same(mul(x, 1), ref::read(x)));
}

}  // namespace
}  // namespace epi
