// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/factories.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace epi {
namespace {

TEST(Factories, FillTheirTensors) {
  const Tensor z = zeros({3, 2}, {DType::kBF16, kCpu});
  for (int i = 0; i < 6; ++i) EXPECT_EQ(z.data<BFloat16>()[i].bits, 0);
  const Tensor f = full({5}, -1.5, {DType::kF16, kCpu});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(static_cast<float>(f.data<Half>()[i]), -1.5F);
  const Tensor a = arange(4);
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(a.data<int64_t>()[i], i);
  const std::vector<int32_t> values{1, 2, 3, 4};
  const Tensor d = from_data<int32_t>(values, {2, 2});
  EXPECT_EQ(std::memcmp(d.raw_data(), values.data(), 16), 0);
}

TEST(Factories, RejectInvalidArguments) {
  EXPECT_THROW(empty({-1}), Error);
  EXPECT_THROW(empty({int64_t{1} << 62}), Error);
  const std::vector<float> three{1, 2, 3};
  EXPECT_THROW(from_data<float>(three, {2}), Error);
  EXPECT_THROW(full({2}, 1e20, {DType::kI32, kCpu}), Error);
  EXPECT_THROW(full({2}, 0.5, {DType::kI64, kCpu}), Error);
  EXPECT_THROW(randn({2}, 0, {DType::kI64, kCpu}), Error);
}

TEST(Factories, MetaTensorsHaveNoMemory) {
  const Tensor meta = zeros({1 << 20, 1 << 20}, {DType::kF32, kMeta});
  EXPECT_EQ(meta.raw_data(), nullptr);
  EXPECT_EQ(meta.numel(), int64_t{1} << 40);
  EXPECT_EQ(meta.strides(), (Dims{1 << 20, 1}));
}

TEST(Factories, ReportSizeOfFailedAllocation) {
  try {
    empty({int64_t{1} << 50}, {DType::kF32, kCpu});
    FAIL() << "four petabytes were allocated";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("4503599627370496 bytes requested"),
              std::string::npos);
  }
}

// The generated numbers are part of the API and must not change, on any machine.
TEST(Randn, IsReproducibleOnEveryMachine) {
  const Tensor x = randn({5}, 42, {DType::kF64, kCpu});
  const double expected[] = {-0x1.f0bcb7534294bp-1, 0x1.8d59cf77b07cap-3, -0x1.2bc05f78273bdp-4,
                             0x1.1cf41e8d34952p-3, -0x1.590c874739896p-2};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(x.data<double>()[i], expected[i]) << i;
}

TEST(Randn, ElementsDependOnSeedAndIndexOnly) {
  const Tensor large = randn({100001}, 7);
  const Tensor small = randn({33}, 7);
  EXPECT_EQ(std::memcmp(large.raw_data(), small.raw_data(), 33 * 4), 0);
  const Tensor other = randn({33}, 8);
  EXPECT_NE(std::memcmp(other.raw_data(), small.raw_data(), 33 * 4), 0);
}

TEST(Randn, IsNormallyDistributed) {
  const int64_t count = 1 << 20;
  const Tensor x = randn({count}, 3, {DType::kF64, kCpu});
  double moments[4] = {};
  int64_t beyond_two = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double v = x.data<double>()[i];
    ASSERT_TRUE(std::isfinite(v));
    for (int k = 0; k < 4; ++k) moments[k] += std::pow(v, k + 1);
    if (std::abs(v) > 2) ++beyond_two;
  }
  // Tolerances are five standard errors of each mean over 2^20 numbers: sqrt(variance of v^k / n).
  EXPECT_NEAR(moments[0] / count, 0, 5 * 1.0 / 1024);
  EXPECT_NEAR(moments[1] / count, 1, 5 * std::sqrt(2.0) / 1024);
  EXPECT_NEAR(moments[2] / count, 0, 5 * std::sqrt(15.0) / 1024);
  EXPECT_NEAR(moments[3] / count, 3, 5 * std::sqrt(96.0) / 1024);
  EXPECT_NEAR(static_cast<double>(beyond_two) / count, 0.0455003, 5 * 0.2084 / 1024);
}

}  // namespace
}  // namespace epi
