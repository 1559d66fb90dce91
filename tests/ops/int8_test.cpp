// SPDX-License-Identifier: Apache-2.0
// GEMMs with int8 weights, against integer references.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "epilogue/cpu/loops/loops.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/int8_groups.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/int8_reference.h"
#include "tests/ops/layouts.h"
#include "tests/ops/mistakes.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

class Int8 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test_device() != kCpu) GTEST_SKIP() << "int8 weights run on the CPU only";
  }
};

Tensor ones(const Dims& shape) { return full(shape, 1); }

constexpr DType kInputs[] = {DType::kF32, DType::kBF16, DType::kF16};

struct Group {
  std::array<int8_t, kInt8Group> values;
  float scale;
};
Group quantize_group(const std::vector<float>& x) {
  Group group;
  group.values.fill(99);
  cpu::loops().int8.quantize(x.data(), static_cast<int64_t>(x.size()), group.values.data(),
                             &group.scale);
  return group;
}

TEST_F(Int8, QuantizesToNearestWithinTheGroup) {
  std::mt19937_64 random(1);
  for (const size_t count : {1, 2, 7, 31, 32}) {
    for (const double magnitude : {1e-29, 1e-3, 1.0, 1e20, 3e38}) {
      std::vector<float> x(count);
      float largest = 0;
      for (float& value : x) {
        value = static_cast<float>(magnitude * (static_cast<double>(random() % 2001) / 1000 - 1));
        largest = std::max(largest, std::abs(value));
      }
      const Group group = quantize_group(x);
      EXPECT_FLOAT_EQ(group.scale, largest / 127);
      for (size_t i = 0; i < count; ++i) {
        // The nearest whole number, up to the rounding of 127 / largest and of its product with x.
        EXPECT_LE(std::abs(double{x[i]} - double{group.scale} * group.values[i]),
                  0.5001 * double{group.scale});
      }
      for (size_t i = count; i < group.values.size(); ++i) EXPECT_EQ(group.values[i], 0);
    }
  }
}

TEST_F(Int8, RoundsTiesToEven) {
  const Group group = quantize_group({127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 126.5});
  const std::array<int8_t, 8> want = {127, 0, 2, 2, 0, -2, -2, 126};
  EXPECT_TRUE(std::equal(want.begin(), want.end(), group.values.begin()));
}

TEST_F(Int8, QuantizesSpecialValues) {
  for (const float tiny : {0.0F, -0.0F, 1e-45F, 1e-38F, 7e-31F}) {
    const Group group = quantize_group({tiny, -tiny});
    EXPECT_EQ(group.scale, 0);
    EXPECT_EQ(group.values[0], 0);
  }
  const Group smallest = quantize_group({0x1p-100F, -0x1p-100F});
  EXPECT_EQ(smallest.values[0], 127);
  EXPECT_EQ(smallest.values[1], -127);
  for (const float bad : {std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), std::nanf("")}) {
    const Group group = quantize_group({1, bad, -3});
    EXPECT_TRUE(std::isnan(group.scale));
    for (const int8_t value : group.values) EXPECT_EQ(value, 0);
  }
}

TEST_F(Int8, EqualsTheIntegerReferenceExactly) {
  for (const int64_t m : {1, 2, 5}) {
    for (const int64_t k : {1, 31, 32, 33, 96, 770}) {
      for (const int64_t n : {1, 7, 130}) {
        for (const bool in_groups : {false, true}) {
          SCOPED_TRACE(fmt::format("{} x {} x {} {}", m, n, k, in_groups));
          const RandomInt8 weight = random_int8(n, k, in_groups, 3, true);
          const Tensor x = exact_int8_rows(m, k);
          const Tensor y = int8_linear(x, weight.values, weight.scale);
          EXPECT_TRUE(same(y, ref::int8_mm(x, weight, true)));
          // The quantized input equals the input.
          EXPECT_TRUE(same(y, ref::int8_mm(x, weight, false)));
          EXPECT_TRUE(same(int8_linear(x, weight.values, weight.scale, {}, false),
                           ref::int8_mm(x, weight, false)));
        }
      }
    }
  }
}

TEST_F(Int8, MatchesReferenceInEveryLayoutAndDType) {
  for (const DType dtype : kInputs) {
    for (const LayoutKind kind : kAllLayouts) {
      for (const int64_t k : {5, 64, 100}) {
        for (const bool in_groups : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {} {} {}", name(dtype), name(kind), k, in_groups));
          const RandomInt8 weight = random_int8(65, k, in_groups, 11);
          const Tensor x = random_tensor({6, k}, dtype, kind, 5);
          for (const bool int8_input : {false, true}) {
            EXPECT_TRUE(matches(int8_linear(x, weight.values, weight.scale, {}, int8_input),
                                ref::int8_mm(x, weight, int8_input), OpClass::kGemm));
          }
        }
      }
    }
  }
}

TEST_F(Int8, AcceptsWeightsAndScalesOfAnyLayout) {
  const RandomInt8 weight = random_int8(9, 70, true, 2);
  const Tensor x = random_tensor({3, 70}, DType::kF32, LayoutKind::kContiguous, 4);
  const RefTensor want = ref::int8_mm(x, weight, true);
  // A row-major [k, n] matrix, and a scale stored by columns.
  const Tensor mat2 = contiguous(t(weight.values));
  const Tensor scale = t(contiguous(t(weight.scale)));
  EXPECT_TRUE(matches(int8_mm(x, mat2, scale), want, OpClass::kGemm));
  // Powers of two are the same in bf16.
  const RandomInt8 exact = random_int8(9, 70, true, 2, true);
  EXPECT_TRUE(matches(int8_mm(x, t(exact.values), to(exact.scale, DType::kBF16)),
                      ref::int8_mm(x, exact, true), OpClass::kGemm));
}

TEST_F(Int8, PropagatesNanToItsRowOnly) {
  const RandomInt8 weight = random_int8(4, 64, true, 2);
  const Tensor x = random_tensor({2, 64}, DType::kF32, LayoutKind::kContiguous, 4);
  x.data<float>()[40] = std::numeric_limits<float>::infinity();
  const Tensor y = int8_linear(x, weight.values, weight.scale);
  for (int64_t j = 0; j < 4; ++j) {
    EXPECT_TRUE(std::isnan(y.data<float>()[j]));
    EXPECT_TRUE(std::isfinite(y.data<float>()[4 + j]));
  }
}

TEST_F(Int8, AcceptsEmptySizes) {
  const Tensor none = zeros({0, 3}, {DType::kI8, kCpu});
  EXPECT_EQ(int8_linear(ones({2, 3}), none, ones({0, 1})).shape(), (Dims{2, 0}));
  const Tensor flat = zeros({4, 0}, {DType::kI8, kCpu});
  EXPECT_TRUE(same(int8_linear(ones({2, 0}), flat, ones({4, 1})), ref::read(zeros({2, 4}))));
  const Tensor weight = zeros({4, 3}, {DType::kI8, kCpu});
  EXPECT_EQ(int8_linear(ones({0, 3}), weight, ones({4, 1})).shape(), (Dims{0, 4}));
}

// Whether int8_linear() of these operands fails in the operator `op`, with a message that contains
// `parts`.
::testing::AssertionResult linear_fails(const char* op, const std::vector<std::string_view>& parts,
                                        const Tensor& x, const Tensor& weight, const Tensor& scale,
                                        const Tensor& bias = {}) {
  return fails(op, parts, [&] { int8_linear(x, weight, scale, bias); });
}

TEST_F(Int8, RejectsWrongOperands) {
  const Tensor weight = zeros({4, 64}, {DType::kI8, kCpu});
  const Tensor scale = f32({4, 1});
  const Tensor x = f32({2, 64});
  EXPECT_TRUE(linear_fails("int8_mm", {"must be i8", "f32"}, x, f32({4, 64}), scale));
  EXPECT_TRUE(linear_fails("int8_linear", {"differ", "[2, 63]"}, f32({2, 63}), weight, scale));
  EXPECT_TRUE(linear_fails("int8_mm", {"[4, 3]", "[4, 1] or [4, 2]"}, x, weight, f32({4, 3})));
  EXPECT_TRUE(linear_fails("int8_mm", {"f64"}, f64({2, 64}), weight, scale));
  EXPECT_TRUE(linear_fails("int8_mm", {"bias", "[4]"}, x, weight, scale, f32({5})));
  EXPECT_TRUE(fails("int8_mm", {"sizes differ"}, [&] { int8_mm(f32({2, 4}), t(weight), scale); }));
  EXPECT_TRUE(fails("add", {"i8", "to()"}, [&] { add(weight, weight); }));
}

}  // namespace
}  // namespace epi
