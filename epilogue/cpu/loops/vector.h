// SPDX-License-Identifier: Apache-2.0
// One vector register of the instruction set, as the compiler's vector type. Used for sums, whose
// order a compiler may not change on its own.
#pragma once

#include <cstdint>

#include "epilogue/cpu/loops/primitives.h"

namespace epi::cpu::EPI_ISA {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <typename T>
struct VectorOf {
  static constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
  typedef T Type __attribute__((vector_size(kVectorBytes)));
};
template <typename T>
using Vector = typename VectorOf<T>::Type;
template <typename T>
inline constexpr int kLanes = VectorOf<T>::kLanes;

// Unaligned load of kLanes elements.
template <typename T>
EPI_INLINE Vector<T> load_vector(const T* from) {
  Vector<T> value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
EPI_INLINE T lane_sum(Vector<T> value) {
  T sum = 0;
  for (int i = 0; i < kLanes<T>; ++i) sum += value[i];
  return sum;
}

}  // namespace epi::cpu::EPI_ISA
