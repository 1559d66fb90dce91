// SPDX-License-Identifier: Apache-2.0
// Element access for the loops: 16-bit floats are computed in f32, all other types in themselves.
#pragma once

#include <cstdint>
#include <type_traits>

#include "epilogue/cpu/loops/primitives.h"
#include "epilogue/tensor/dtype.h"

namespace epi::cpu::EPI_ISA {

template <typename T>
using Compute = std::conditional_t<sizeof(T) == 2, float, T>;

template <typename T>
EPI_INLINE Compute<T> load(const T& element) {
  return static_cast<Compute<T>>(element);
}

template <typename T>
EPI_INLINE void store(T& element, Compute<T> value) {
  element = T(value);
}

#if defined(__aarch64__)
// Converted by fcvtl and fcvtn, which compilers vectorize.
EPI_INLINE float load(const Half& element) {
  return static_cast<float>(__builtin_bit_cast(__fp16, element.bits));
}
EPI_INLINE void store(Half& element, float value) {
  element.bits = __builtin_bit_cast(uint16_t, static_cast<__fp16>(value));
}
#endif

}  // namespace epi::cpu::EPI_ISA
