// SPDX-License-Identifier: Apache-2.0
// GEMMs with int8 weights: quantization of a row, and its dot products with rows of weights.
#include <algorithm>
#include <limits>

#include "epilogue/cpu/loops/tables.h"
#include "epilogue/cpu/loops/vector.h"
#include "epilogue/ops/int8_groups.h"

namespace epi::cpu::EPI_ISA {
namespace {

constexpr int kGroup = static_cast<int>(kInt8Group);
constexpr float kLargest = kInt8Largest;
// Below this, 127 / magnitude could overflow.
constexpr float kSmallest = 0x1p-100F;

// Returns the scale. `count` is the number of elements, at most 32.
EPI_INLINE float quantize_group(const float* x, int64_t count, int8_t* quantized) {
  // Magnitudes compare as integers, and NaN is above all others.
  uint32_t bits = 0;
  for (int64_t i = 0; i < count; ++i) {
    bits = std::max(bits, __builtin_bit_cast(uint32_t, x[i]) & 0x7FFFFFFFU);
  }
  const float largest = __builtin_bit_cast(float, bits);
  const bool is_finite = bits < 0x7F800000U;
  const float inverse = is_finite && largest >= kSmallest ? kLargest / largest : 0.0F;
  // Adding 1.5 * 2^23 rounds to nearest, ties to even, and leaves the integer in the low bits.
  for (int64_t i = 0; i < count; ++i) {
    const float scaled = is_finite ? x[i] * inverse : 0.0F;
    quantized[i] = static_cast<int8_t>(__builtin_bit_cast(int32_t, scaled + 0x1.8p23F));
  }
  for (int64_t i = count; i < kGroup; ++i) quantized[i] = 0;
  if (!is_finite) return std::numeric_limits<float>::quiet_NaN();
  return inverse == 0 ? 0 : largest / kLargest;
}

void quantize(const float* x, int64_t k, int8_t* quantized, float* scales) {
  int64_t i = 0;
  for (; i + kGroup <= k; i += kGroup) *scales++ = quantize_group(x + i, kGroup, quantized + i);
  if (i < k) *scales = quantize_group(x + i, k - i, quantized + i);
}

// The exact sum of products.
EPI_INLINE float dot_group(const int8_t* x, const int8_t* w, int64_t count) {
  int32_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += int32_t{x[i]} * int32_t{w[i]};
  return static_cast<float>(sum);
}

void dot(const int8_t* x, const float* x_scales, int64_t k, const int8_t* w, int64_t ld, int64_t n,
         const float* scales, int64_t groups, float* sums) {
  for (int64_t j = 0; j < n; ++j, w += ld, scales += groups) {
    float sum = 0;
    for (int64_t i = 0, g = 0; i < k; i += kGroup, ++g) {
      const float products =
          i + kGroup <= k ? dot_group(x + i, w + i, kGroup) : dot_group(x + i, w + i, k - i);
      sum += products * (groups == 1 ? x_scales[g] : x_scales[g] * scales[g]);
    }
    sums[j] = groups == 1 ? sum * scales[0] : sum;
  }
}

EPI_INLINE float dot_float_group(const float* x, const int8_t* w, int64_t count) {
  typedef int8_t Bytes __attribute__((vector_size(kLanes<float>)));
  Vector<float> sum{};
  int64_t i = 0;
  for (; i + kLanes<float> <= count; i += kLanes<float>) {
    Bytes weights;
    __builtin_memcpy(&weights, w + i, sizeof weights);
    sum += load_vector(x + i) * __builtin_convertvector(weights, Vector<float>);
  }
  float total = lane_sum<float>(sum);
  for (; i < count; ++i) total += x[i] * static_cast<float>(w[i]);
  return total;
}

void dot_float(const float* x, int64_t k, const int8_t* w, int64_t ld, int64_t n,
               const float* scales, int64_t groups, float* sums) {
  const int64_t step = groups == 1 ? k : kGroup;
  for (int64_t j = 0; j < n; ++j, w += ld, scales += groups) {
    float sum = 0;
    for (int64_t i = 0, g = 0; i < k; i += step, ++g) {
      sum += dot_float_group(x + i, w + i, std::min(step, k - i)) * scales[g];
    }
    sums[j] = sum;
  }
}

}  // namespace

void fill_int8(Loops& table) { table.int8 = {quantize, dot, dot_float}; }

}  // namespace epi::cpu::EPI_ISA
