// SPDX-License-Identifier: Apache-2.0
#include "tests/ops/int8_reference.h"

#include <cmath>
#include <random>

#include "epilogue/cpu/loops/loops.h"
#include "epilogue/ops/int8_groups.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/layouts.h"

namespace epi {

RandomInt8 random_int8(int64_t n, int64_t k, bool in_groups, uint64_t seed, bool exact) {
  std::mt19937_64 random(seed);
  RandomInt8 weight;
  const int64_t groups = in_groups ? int8_groups(k) : 1;
  weight.values = empty({n, k}, {DType::kI8, kCpu});
  weight.scale = empty({n, groups}, {DType::kF32, kCpu});
  for (int64_t i = 0; i < n * k; ++i) {
    weight.values.data<int8_t>()[i] = static_cast<int8_t>(static_cast<int>(random() % 256) - 128);
  }
  for (int64_t i = 0; i < n * groups; ++i) {
    const double power = std::ldexp(1.0, -static_cast<int>(random() % 3));
    const double fraction = 0.01 + static_cast<double>(random() % 1000) / 1000;
    weight.scale.data<float>()[i] = static_cast<float>(exact ? power : fraction);
  }
  return weight;
}

Tensor exact_int8_rows(int64_t m, int64_t k) {
  std::mt19937_64 random(7);
  const Tensor x = empty({m, k}, {DType::kF32, kCpu});
  for (int64_t i = 0; i < m * k; ++i) {
    const int64_t in_row = i % k;
    const int exponent = static_cast<int>((i / k + in_row / kInt8Group) % 3);
    const int whole = in_row % kInt8Group == 0 ? 127 : static_cast<int>(random() % 255) - 127;
    x.data<float>()[i] = std::ldexp(static_cast<float>(whole), -exponent);
  }
  return x;
}

namespace ref {
namespace {

// The input as whole numbers and the scale of each group.
struct QuantizedRows {
  std::vector<int8_t> values;
  std::vector<float> scales;
};

QuantizedRows quantized(const RefTensor& x) {
  const int64_t m = x.shape[0];
  const int64_t k = x.shape[1];
  const int64_t groups = int8_groups(k);
  QuantizedRows rows;
  rows.values.resize(static_cast<size_t>(m * groups * kInt8Group));
  rows.scales.resize(static_cast<size_t>(m * groups));
  const std::vector<float> numbers(x.values.begin(), x.values.end());
  for (int64_t r = 0; r < m; ++r) {
    cpu::loops().int8.quantize(numbers.data() + r * k, k,
                               rows.values.data() + r * groups * kInt8Group,
                               rows.scales.data() + r * groups);
  }
  return rows;
}

}  // namespace

RefTensor dequantized(const RandomInt8& weight) {
  RefTensor out = read(weight.values);
  const RefTensor scale = read(weight.scale);
  const int64_t k = out.shape[1];
  for (int64_t i = 0; i < numel(out.shape); ++i) {
    const int64_t group = scale.shape[1] == 1 ? 0 : i % k / kInt8Group;
    out.values[static_cast<size_t>(i)] *=
        scale.values[static_cast<size_t>(i / k * scale.shape[1] + group)];
  }
  return out;
}

RefTensor int8_mm(const Tensor& x, const RandomInt8& weight, bool int8_input) {
  const RefTensor numbers = read(x);
  if (!int8_input) return mm(numbers, transpose(dequantized(weight), 0, 1));
  const int64_t m = x.size(0);
  const int64_t k = x.size(1);
  const int64_t n = weight.values.size(0);
  const int64_t groups = int8_groups(k);
  const QuantizedRows rows = quantized(numbers);
  const auto* w = weight.values.data<int8_t>();
  const auto* scales = weight.scale.data<float>();
  RefTensor out{{m, n}, {}};
  out.terms = groups;
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      double magnitude = 0;
      for (int64_t g = 0; g < groups; ++g) {
        int64_t products = 0;
        for (int64_t i = g * kInt8Group; i < std::min((g + 1) * kInt8Group, k); ++i) {
          products += int64_t{rows.values[static_cast<size_t>(r * groups * kInt8Group + i)]} *
                      int64_t{w[j * k + i]};
        }
        const double weight_scale = scales[weight.scale.size(1) == 1 ? j : j * groups + g];
        const double term = static_cast<double>(products) *
                            double{rows.scales[static_cast<size_t>(r * groups + g)]} * weight_scale;
        sum += term;
        magnitude += std::abs(term);
      }
      out.values.push_back(sum);
      out.scales.push_back(magnitude);
    }
  }
  return out;
}

}  // namespace ref
}  // namespace epi
