// SPDX-License-Identifier: Apache-2.0
// Exhaustive tests of the 16-bit floats: every bit pattern to f32 and
// back, and every tie between neighbors.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

constexpr int kPatterns = 65536;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

class Rounding : public ::testing::TestWithParam<DType> {
 protected:
  // The value of a bit pattern by the definition of the format: (-1)^s 2^e m.
  static double value_of(uint32_t bits) {
    const FloatFormat format = float_format(GetParam());
    const int stored = GetParam() == DType::kBF16 ? 7 : 10;  // mantissa bits
    const auto exponent = static_cast<int>((bits & 0x7FFF) >> stored);
    const uint32_t mantissa = bits & ((1U << stored) - 1);
    const double sign = bits >= 0x8000 ? -1 : 1;
    if (exponent == 0x7FFF >> stored) {
      return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                           : sign * std::numeric_limits<double>::infinity();
    }
    const uint32_t leading = exponent == 0 ? 0 : 1U << stored;
    const int power = format.min_exponent + std::max(exponent, 1) - 1 - stored;
    return sign * std::ldexp(leading + mantissa, power);
  }

  static Tensor all_patterns() {
    const Tensor x = empty({kPatterns}, {GetParam(), kCpu});
    auto* bits = reinterpret_cast<uint16_t*>(x.raw_data());
    for (int i = 0; i < kPatterns; ++i) bits[i] = static_cast<uint16_t>(i);
    return on_test_device(x);
  }

  static uint16_t bits_at(const Tensor& x, int64_t i) {
    return reinterpret_cast<const uint16_t*>(x.raw_data())[i];
  }

  // `values` rounded by the library.
  static Tensor rounded(const std::vector<float>& values) {
    const Tensor x = from_data<float>(values, {std::ssize(values)});
    return on_host(to(on_test_device(x), GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, Rounding, ::testing::Values(DType::kBF16, DType::kF16),
                         dtype_label);

TEST_P(Rounding, EveryPatternConvertsExactlyToF32) {
  const Tensor wide = on_host(to(all_patterns(), DType::kF32));
  for (int i = 0; i < kPatterns; ++i) {
    const double want = value_of(static_cast<uint32_t>(i));
    const float got = wide.data<float>()[i];
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << i;
    } else {
      ASSERT_EQ(got, want) << i;
      ASSERT_EQ(std::signbit(got), i >= 0x8000) << i;
    }
  }
}

TEST_P(Rounding, EveryPatternRoundTripsThroughF32AndF64) {
  for (const DType wide : {DType::kF32, DType::kF64}) {
    const Tensor back = on_host(to(to(all_patterns(), wide), GetParam()));
    for (int i = 0; i < kPatterns; ++i) {
      if (std::isnan(value_of(static_cast<uint32_t>(i)))) {
        ASSERT_TRUE(std::isnan(value_of(bits_at(back, i)))) << i;
      } else {
        ASSERT_EQ(bits_at(back, i), i);
      }
    }
  }
}

// Midpoints between each pattern and the next larger one, including
// the last finite one and infinity.
TEST_P(Rounding, RoundsToNearestTiesToEven) {
  const uint32_t infinity = GetParam() == DType::kBF16 ? 0x7F80 : 0x7C00;
  std::vector<float> values;
  std::vector<uint32_t> want;
  for (uint32_t low = 0; low < infinity; ++low) {
    // Half an ulp is exact in f32, even above the largest finite value.
    const double step = 2 * half_ulp(GetParam(), value_of(low));
    const auto middle = static_cast<float>(value_of(low) + step / 2);
    values.insert(values.end(),
                  {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, kInfinity)});
    want.insert(want.end(), {low + (low & 1), low, low + 1});
  }
  const Tensor got = rounded(values);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(bits_at(got, static_cast<int64_t>(i)), want[i]) << values[i];
  }
}

TEST_P(Rounding, RoundsSymmetricallyAroundZero) {
  std::vector<float> values(20000);
  float mantissa = 1;
  for (int exponent = -30; float& value : values) {
    value = std::ldexp(mantissa, exponent);
    mantissa += 1e-4F;
    exponent = exponent < 30 ? exponent + 1 : -30;
  }
  const Tensor up = rounded(values);
  for (float& value : values) value = -value;
  const Tensor down = rounded(values);
  for (int64_t i = 0; i < std::ssize(values); ++i) {
    ASSERT_EQ(bits_at(down, i), bits_at(up, i) | 0x8000) << values[static_cast<size_t>(i)];
  }
}

TEST_P(Rounding, HugeValuesBecomeInfinite) {
  // The last two lie beyond the tie between the largest finite value and infinity in both formats.
  const Tensor got = rounded({kInfinity, std::numeric_limits<float>::max(), 3.4e38F});
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(value_of(bits_at(got, i)), kInfinity);
  const Tensor wide = on_host(to(tensor_of({1e300, -1e300}, {2}, DType::kF64), GetParam()));
  EXPECT_EQ(value_of(bits_at(wide, 0)), kInfinity);
  EXPECT_EQ(value_of(bits_at(wide, 1)), -kInfinity);
}

TEST_P(Rounding, EveryNaNStaysNaN) {
  std::vector<float> values;
  for (const uint32_t payload :
       {0x7F800001U, 0x7F80FFFFU, 0x7FC00000U, 0x7FFFFFFFU, 0xFF800001U, 0xFFFFFFFFU}) {
    values.push_back(std::bit_cast<float>(payload));
  }
  const Tensor got = rounded(values);
  for (int64_t i = 0; i < std::ssize(values); ++i) {
    EXPECT_TRUE(std::isnan(value_of(bits_at(got, i)))) << i;
  }
}

}  // namespace
}  // namespace epi
