// SPDX-License-Identifier: Apache-2.0
// One vector register of the instruction set, as the compiler's vector type. Used for sums, whose
// order a compiler may not change on its own.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <cstdint>

#include "epilogue/cpu/loops/access.h"

namespace epi::cpu::EPI_ISA {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int kRegisters = 32;
#else
inline constexpr int kRegisters = 16;
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

// 2 * kLanes<float> elements as f32.
struct FloatPair {
  Vector<float> low;
  Vector<float> high;
};
EPI_INLINE FloatPair load_pair(const float* from) {
  return {load_vector(from), load_vector(from + kLanes<float>)};
}

// Compilers do not recognize the conversions from 16 bits.
#if defined(__aarch64__)
EPI_INLINE FloatPair load_pair(const BFloat16* from) {
  uint16x8_t bits;
  __builtin_memcpy(&bits, from, sizeof bits);
  const uint16x8_t zero = vdupq_n_u16(0);
  return {vreinterpretq_f32_u16(vzip1q_u16(zero, bits)),
          vreinterpretq_f32_u16(vzip2q_u16(zero, bits))};
}
EPI_INLINE FloatPair load_pair(const Half* from) {
  float16x8_t halves;
  __builtin_memcpy(&halves, from, sizeof halves);
  return {vcvt_f32_f16(vget_low_f16(halves)), vcvt_high_f32_f16(halves)};
}
#elif defined(__AVX512F__)
EPI_INLINE Vector<float> load_widened(const BFloat16* from) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return reinterpret_cast<Vector<float>>(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}
EPI_INLINE Vector<float> load_widened(const Half* from) {
  return reinterpret_cast<Vector<float>>(
      _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
}
#elif defined(__AVX2__)
EPI_INLINE Vector<float> load_widened(const BFloat16* from) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return reinterpret_cast<Vector<float>>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}
EPI_INLINE Vector<float> load_widened(const Half* from) {
  return reinterpret_cast<Vector<float>>(
      _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
#else
template <typename T>
EPI_INLINE Vector<float> load_widened(const T* from) {
  Vector<float> value{};
  for (int i = 0; i < kLanes<float>; ++i) value[i] = load(from[i]);
  return value;
}
#endif
#if !defined(__aarch64__)
template <typename T>
EPI_INLINE FloatPair load_pair(const T* from) {
  return {load_widened(from), load_widened(from + kLanes<float>)};
}
#endif

template <typename T>
EPI_INLINE T lane_sum(Vector<T> value) {
  T sum = 0;
  for (int i = 0; i < kLanes<T>; ++i) sum += value[i];
  return sum;
}

}  // namespace epi::cpu::EPI_ISA
