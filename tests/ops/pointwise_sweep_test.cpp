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
    if (std::isnan(value) && std::isnan(got.values[i])) continue;  // rsqrt of a negative number
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

// Whole numbers and their fractions up to the largest f32: positions times frequencies, and far
// beyond.
std::vector<double> large_arguments(DType dtype) {
  std::vector<double> values;
  const double largest = std::min(float_format(dtype).max, 0x1p1000);
  for (double x = 1; x < largest; x *= dtype == DType::kF64 ? 1.003 : 1.0004) {
    values.push_back(x);
    values.push_back(-std::round(x));
    values.push_back(std::round(x / M_PI_2) * M_PI_2);  // near a zero of sin or cos
  }
  for (int position = 0; position < 1'000'000; position += 7) values.push_back(position);
  return values;
}

double worst_ulp(const Tensor& got, const Tensor& x, double (*f)(double)) {
  const RefTensor in = ref::read(x);
  const RefTensor out = ref::read(got);
  double worst = 0;
  for (size_t i = 0; i < in.values.size(); ++i) {
    const double want = f(in.values[i]);
    const double error = std::abs(out.values[i] - want) / (2 * half_ulp(x.dtype(), want));
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

// 0.51 ulp on the CPU in f32, which computes in f64. CUDA documents 2 ulp.
TEST(TrigonometrySweep, StaysAccurateForLargeArguments) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const std::vector<double> values = large_arguments(dtype);
    const Tensor x = tensor_of(values, {std::ssize(values)}, dtype);
    const double allowed = test_device() == kCpu && dtype == DType::kF32 ? 0.51 : 2.5;
    EXPECT_LE(worst_ulp(sin(x), x, std::sin), allowed) << name(dtype);
    EXPECT_LE(worst_ulp(cos(x), x, std::cos), allowed) << name(dtype);
  }
}

// 0.51 ulp on the CPU in f32. CUDA documents 4 ulp for f32 and 2 for f64.
TEST(PowSweep, StaysAccurateForAnyExponent) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const double allowed = test_device() == kCpu && dtype == DType::kF32 ? 0.51 : 4.5;
    double worst = 0;
    for (const double exponent : {2.0, 3.0, 0.5, -0.5, -1.0, 1.0, 2.5, -7.0, 17.25, 1e-3}) {
      std::vector<double> values;
      for (double x = 0x1p-20; x < 0x1p20; x *= 1.0007) values.push_back(x);
      const Tensor x = tensor_of(values, {std::ssize(values)}, dtype);
      const RefTensor in = ref::read(x);
      const RefTensor out = ref::read(pow(x, exponent));
      for (size_t i = 0; i < in.values.size(); ++i) {
        const double y = dtype == DType::kF64 ? exponent : static_cast<float>(exponent);
        const double want = std::pow(in.values[i], y);
        if (std::abs(want) > float_format(dtype).max) continue;
        worst = std::max(worst, std::abs(out.values[i] - want) / (2 * half_ulp(dtype, want)));
      }
    }
    EXPECT_LE(worst, allowed) << name(dtype);
  }
}

}  // namespace
}  // namespace epi
