// SPDX-License-Identifier: Apache-2.0
// act(gate) * up in float64, and comparisons with it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/tensor.h"

namespace epi::hub {

inline double silu_of(double x) { return x / (1 + std::exp(-x)); }
// Computes x (1 + tanh(u)) / 2 as x sigmoid(2u), because 1 + tanh(u) cancels in the tail.
inline double gelu_tanh(double x) {
  const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * u));
}

// All elements in row-major order as f64.
inline std::vector<double> numbers(const Tensor& x) {
  const Tensor wide = clone(to(to(x, kCpu), DType::kF64));
  const auto* data = reinterpret_cast<const double*>(wide.raw_data());
  return {data, data + wide.numel()};
}

inline std::vector<double> reference(const Tensor& gate, const Tensor& up, double (*act)(double)) {
  std::vector<double> result = numbers(gate);
  const std::vector<double> others = numbers(up);
  for (size_t i = 0; i < result.size(); ++i) result[i] = act(result[i]) * others[i];
  return result;
}

// Rounding the result costs half an ulp of its dtype. The f32 arithmetic costs a few ulp of f32,
// and more if exp and the division are approximate (2^-20 of the result).
inline void expect_close(const Tensor& out, const std::vector<double>& expected) {
  const double unit = out.dtype() == DType::kBF16  ? 0x1p-8
                      : out.dtype() == DType::kF16 ? 0x1p-11
                                                   : 0x1p-21;
  // The ulp of f16 is constant below its smallest normal number.
  const double least = out.dtype() == DType::kF16 ? 0x1p-24 : 1e-30;
  const std::vector<double> found = numbers(out);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    // In the tail the error of the exponent dominates: four f32 roundings, relative to its size.
    const double exponent = std::max(0.0, -std::log(std::abs(expected[i]) + least));
    const double relative = unit + 0x1p-20 + 0x1p-22 * exponent;
    const double bound = relative * std::abs(expected[i]) + least;
    ASSERT_NEAR(found[i], expected[i], bound) << "element " << i << " of " << found.size();
  }
}

inline void expect_equal(const Tensor& a, const Tensor& b) { EXPECT_EQ(numbers(a), numbers(b)); }

inline double largest_difference(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = numbers(a);
  const std::vector<double> right = numbers(b);
  EXPECT_EQ(left.size(), right.size());
  double largest = 0;
  for (size_t i = 0; i < left.size(); ++i)
    largest = std::max(largest, std::abs(left[i] - right[i]));
  return largest;
}

}  // namespace epi::hub
