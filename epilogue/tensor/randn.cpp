// SPDX-License-Identifier: Apache-2.0
// Normally distributed random numbers that are the same on every machine. Philox 4x32-10, a
// counter-based generator, produces uniform words, and Box-Muller transforms them. log, sin and cos
// are series of +, -, * and / in double, because libm implementations differ in the last bit. This
// file is compiled with -ffp-contract=off, because a fused multiply-add rounds differently.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "epilogue/base/thread_pool.h"
#include "epilogue/tensor/factories.h"

namespace epi {
namespace {

using Words = std::array<uint32_t, 4>;

Words philox(uint64_t counter, uint64_t seed) {
  Words c = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0};
  auto key_low = static_cast<uint32_t>(seed);
  auto key_high = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key_low, static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ key_high, static_cast<uint32_t>(a)};
    key_low += 0x9E3779B9;
    key_high += 0xBB67AE85;
  }
  return c;
}

// ln(x) for x in (0, 1], as 2 atanh((m - 1) / (m + 1)) of the mantissa m in [sqrt(1/2), sqrt(2)).
double log_series(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  auto exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1);
  const double s2 = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;  // |s| < 0.172: s^25 is below 1e-19
  return 2 * s * sum + exponent * 0.6931471805599453;
}

// sin and cos of 2 pi u for u in [0, 1), as Taylor series on an eighth of the circle.
struct SinCos {
  double sine;
  double cosine;
};
SinCos sin_cos_turns(double u) {
  const int quadrant = (static_cast<int>(u * 8) + 1) / 2;  // the nearest one
  const double x = (u - quadrant * 0.25) * 6.283185307179586;
  const double x2 = x * x;
  double s = 0;
  double c = 0;
  for (int k = 19; k >= 3; k -= 2) s = (1 + s) * (-x2 / (k * (k - 1)));
  for (int k = 18; k >= 2; k -= 2) c = (1 + c) * (-x2 / (k * (k - 1)));
  s = x * (1 + s);
  c = 1 + c;
  switch (quadrant & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

// Elements 2 * pair and 2 * pair + 1.
std::array<double, 2> normal_pair(uint64_t seed, int64_t pair) {
  const Words words = philox(static_cast<uint64_t>(pair), seed);
  const double u1 = (words[0] + 1.0) * 0x1p-32;  // (0, 1]
  const double u2 = words[1] * 0x1p-32;          // [0, 1)
  const double radius = std::sqrt(-2 * log_series(u1));
  const auto [sine, cosine] = sin_cos_turns(u2);
  return {radius * cosine, radius * sine};
}

template <typename T>
T rounded(double value) {
  if constexpr (sizeof(T) == 2) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace

Tensor randn(const Dims& shape, uint64_t seed, TensorOptions options) {
  if (!is_floating(options.dtype)) {
    fail("randn", "needs a floating dtype, not {}", name(options.dtype));
  }
  if (options.device.type == DeviceType::kMeta) return empty(shape, options);
  const Tensor tensor = empty(shape, {options.dtype, kCpu});
  const int64_t count = tensor.numel();
  visit_dtype(options.dtype, [&]<typename T>(T) {
    if constexpr (is_floating(DTypeOf<T>::value)) {
      T* data = tensor.data<T>();
      parallel_for((count + 1) / 2, 4096, [=](int64_t begin, int64_t end) {
        for (int64_t pair = begin; pair < end; ++pair) {
          const auto values = normal_pair(seed, pair);
          data[2 * pair] = rounded<T>(values[0]);
          if (2 * pair + 1 < count) data[2 * pair + 1] = rounded<T>(values[1]);
        }
      });
    }
  });
  return on_device(tensor, options.device);
}

}  // namespace epi
