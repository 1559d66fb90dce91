// SPDX-License-Identifier: Apache-2.0
// Element types, and the two 16-bit floats as storage types. They only convert: arithmetic on them
// is done in f32. Conversion rounds to nearest, ties to even. i8 stores quantized weights.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "epilogue/tensor/dtype_enum.h"

namespace epi {

constexpr int64_t size_bytes(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kI64:
      return 8;
    case DType::kF32:
    case DType::kI32:
      return 4;
    case DType::kBF16:
    case DType::kF16:
      return 2;
    case DType::kBool:
    case DType::kI8:
      return 1;
  }
  return 0;
}

constexpr bool is_floating(DType dtype) { return dtype <= DType::kF16; }

// Whether `value` can be stored in `dtype`. Integers accept whole numbers in their range that a
// double represents exactly. Floats and bool accept any value.
bool can_represent(DType dtype, double value);

// "f32", "bf16", "i64", "bool" ...
std::string_view name(DType dtype);
std::optional<DType> dtype_from_name(std::string_view name);

// Always inlined: otherwise the linker could pick the copy from a file compiled for one instruction
// set and use it everywhere.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  [[gnu::always_inline]] explicit BFloat16(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (word + 0x7FFF + ((word >> 16) & 1)) >> 16;
    const bool is_nan = (word & 0x7FFFFFFF) > 0x7F800000;
    bits = static_cast<uint16_t>(is_nan ? (word >> 16) | 0x40 : rounded);
  }
  [[gnu::always_inline]] explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

struct Half {
  uint16_t bits = 0;

  Half() = default;
  [[gnu::always_inline]] explicit Half(float value);
  [[gnu::always_inline]] explicit operator float() const;
};

// Branch-free, so that loops over it vectorize: all cases are computed and one is selected. None of
// them touches an f32 subnormal, which CPUs handle in microcode, a hundred times slower.
inline Half::operator float() const {
  const uint32_t magnitude = bits & 0x7FFFU;
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
  const uint32_t shifted = magnitude << 13;
  const uint32_t normal = shifted + (112U << 23);  // rebase the exponent
  // A subnormal m 2^-24 equals 2^-14 (1 + m / 1024) - 2^-14.
  const float fraction = std::bit_cast<float>(shifted + (113U << 23)) - 0x1p-14F;
  uint32_t word = magnitude < 0x400U ? std::bit_cast<uint32_t>(fraction) : normal;
  word = magnitude >= 0x7C00U ? (0x7F800000U | shifted) : word;
  return std::bit_cast<float>(word | sign);
}

inline Half::Half(float value) {
  const auto word = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (word >> 16) & 0x8000U;
  const uint32_t magnitude = word & 0x7FFFFFFFU;
  // Below 2^-14 the result is subnormal: adding 0.5 lets the float unit round at bit 2^-24.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
  const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - 0x3F000000U;
  const uint32_t normal = (magnitude - 0x38000000U + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
  uint32_t half = magnitude < 0x38800000U ? subnormal : normal;
  half = magnitude >= 0x477FF000U ? 0x7C00U : half;  // 65520 and above round to infinity
  half = magnitude > 0x7F800000U ? 0x7E00U : half;
  bits = static_cast<uint16_t>(half | sign);
}

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kF64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kF32;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::kBF16;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::kF16;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::kI64;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kI32;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::kI8;
};

// Calls `f` with a default value of the element type: visit_dtype(d, [&]<typename T>(T) { ... }).
template <typename F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF64:
      return f(double{});
    case DType::kF32:
      return f(float{});
    case DType::kBF16:
      return f(BFloat16{});
    case DType::kF16:
      return f(Half{});
    case DType::kI64:
      return f(int64_t{});
    case DType::kI32:
      return f(int32_t{});
    case DType::kI8:
      return f(int8_t{});
    case DType::kBool:
      break;
  }
  return f(bool{});
}

}  // namespace epi
