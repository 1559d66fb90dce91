// SPDX-License-Identifier: Apache-2.0
// The prelude of generated pointwise kernels: element types and the walk over operands. The layout
// of Walk matches gpu/fused_walk.h. NVRTC compiles this text (device_text.h). It includes no
// header, which alone would take a quarter of a second.
#pragma once

namespace epi::device {

struct bf16 {
  unsigned short bits;
};
struct f16 {
  unsigned short bits;
};

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(bf16 x) { return __uint_as_float(x.bits << 16); }
__device__ __forceinline__ float to_float(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}

template <typename T>
__device__ __forceinline__ T rounded(float x);
template <>
__device__ __forceinline__ float rounded<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ bf16 rounded<bf16>(float x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
template <>
__device__ __forceinline__ f16 rounded<f16>(float x) {
  f16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}

template <typename T>
__device__ __forceinline__ float rounded_to(float x) {
  return to_float(rounded<T>(x));
}

template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T values[kCount];
};

// With programmatic dependent launch, the kernel may start before the previous kernel on the stream
// has finished. After this call the output of that kernel is visible, and the next kernel may start
// once the blocks of this one finish.
__device__ __forceinline__ void wait_for_inputs() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Precomputed division by a size that is constant for the launch.
struct Divisor {
  unsigned value, multiplier, shift;
};

// Maps an item, which is one element or one vector, to its offset in each operand.
template <int kOperands>
struct Walk {
  int rank;
  unsigned items, broadcast, unused;  // broadcast: bit mask, stride 0 in the last dimension
  Divisor shape[8];
  char* data[kOperands];
  long long strides[kOperands][8];

  __device__ __forceinline__ void find(unsigned index, long long (&at)[kOperands]) const {
#pragma unroll
    for (int i = 0; i < kOperands; ++i) at[i] = 0;
#pragma unroll
    for (int d = 7; d > 0; --d) {
      if (d >= rank) continue;
      const unsigned quotient = (__umulhi(index, shape[d].multiplier) + index) >> shape[d].shift;
      const unsigned place = index - quotient * shape[d].value;
#pragma unroll
      for (int i = 0; i < kOperands; ++i) at[i] += place * strides[i][d];
      index = quotient;
    }
#pragma unroll
    for (int i = 0; i < kOperands; ++i) at[i] += index * strides[i][0];
  }
  template <typename T, int kCount>
  __device__ __forceinline__ Pack<T, kCount> read(int operand, long long at) const {
    const T* from = reinterpret_cast<const T*>(data[operand]) + at;
    if constexpr (kCount > 1) {
      if ((broadcast >> operand & 1) != 0) {
        Pack<T, kCount> pack;
#pragma unroll
        for (int k = 0; k < kCount; ++k) pack.values[k] = *from;
        return pack;
      }
    }
    return *reinterpret_cast<const Pack<T, kCount>*>(from);
  }
  template <typename T, int kCount>
  __device__ __forceinline__ void write(int operand, long long at, Pack<T, kCount> pack) const {
    *reinterpret_cast<Pack<T, kCount>*>(reinterpret_cast<T*>(data[operand]) + at) = pack;
  }
};

}  // namespace epi::device
