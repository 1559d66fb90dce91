// SPDX-License-Identifier: Apache-2.0
// Dense sweeps of the functions that are approximated by polynomials. The worst errors are recorded
// as test properties (--gtest_output=xml), so a drift is visible before a test fails.
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

constexpr int64_t kPoints = 200'001;

// Points from -100 to 100, denser around zero, where the curvature is largest.
Tensor sweep(DType dtype) {
  std::vector<double> values;
  for (int64_t i = 0; i < kPoints; ++i) {
    const double u = 2.0 * static_cast<double>(i) / (kPoints - 1) - 1;  // [-1, 1]
    values.push_back(100 * u * std::abs(u));
  }
  return tensor_of(values, {kPoints}, dtype);
}

struct Worst {
  double error = 0;
  double at = 0;
};

// The largest error in ulp of the value, or for gelu, which cancels, in ulp of x. Errors below the
// absolute part of the tolerance do not count.
Worst worst_error(const UnaryCase& op, const Tensor& x) {
  const DType dtype = x.dtype();
  const RefTensor in = ref::read(x);
  const RefTensor want = op.reference(in);
  const RefTensor got = ref::read(op.run(x));
  Worst worst;
  for (size_t i = 0; i < in.values.size(); ++i) {
    const double value = want.values[i];
    if (std::abs(value) > float_format(dtype).max && std::isinf(got.values[i])) continue;
    const double unit = 2 * half_ulp(dtype, std::max(std::abs(value), want.scale(i)));
    const double vanished = tolerance(dtype, op.op_class).absolute;
    const double error = std::max(0.0, std::abs(got.values[i] - value) - vanished) / unit;
    if (!(error <= worst.error)) worst = {error, in.values[i]};  // counts NaN as an error
  }
  return worst;
}

class FunctionSweep : public ::testing::TestWithParam<UnaryCase> {
 protected:
  static void expect_within_tolerance(DType dtype) {
    const Worst worst = worst_error(GetParam(), sweep(dtype));
    RecordProperty("worst_ulp", fmt::format("{:.2f} at {}", worst.error, worst.at));
    const Tolerance allowed = tolerance(dtype, GetParam().op_class);
    EXPECT_LE(worst.error, (allowed.relative + allowed.per_scale) / (2 * half_ulp(dtype, 1)))
        << "at " << worst.at;
  }
};
// Functions with a rounding error. Exact functions need no sweep.
std::vector<UnaryCase> inexact_cases() {
  std::vector<UnaryCase> cases;
  for (const UnaryCase& op : kUnaryCases) {
    if (op.op_class != OpClass::kExact) cases.push_back(op);
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Functions, FunctionSweep, ::testing::ValuesIn(inexact_cases()),
                         unary_label);

TEST_P(FunctionSweep, F32StaysWithinTolerance) { expect_within_tolerance(DType::kF32); }

TEST_P(FunctionSweep, F64StaysWithinTolerance) { expect_within_tolerance(DType::kF64); }

// For every value of the 16-bit dtypes, the result is the f32 result rounded once.
TEST_P(FunctionSweep, SixteenBitResultIsRoundedF32Result) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const Tensor patterns = empty({65536}, {dtype, kCpu});
    auto* bits = reinterpret_cast<uint16_t*>(patterns.raw_data());
    for (int i = 0; i < 65536; ++i) bits[i] = static_cast<uint16_t>(i);
    const Tensor x = on_test_device(patterns);
    const Tensor got = GetParam().run(x);
    const Tensor want = to(GetParam().run(to(x, DType::kF32)), dtype);
    if (test_device() == kCpu) {
      EXPECT_TRUE(same(got, ref::read(want))) << name(dtype);
    } else {  // the GPU may use a less accurate approximation for 16 bits than for f32
      EXPECT_TRUE(matches(got, GetParam().reference(ref::read(x)), GetParam().op_class));
    }
  }
}

}  // namespace
}  // namespace epi
