// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/cuda_code.h"

namespace epi::compiler {
namespace {

// The walk's layout is that of gpu/fused_walk.h. No header is included: that alone would take NVRTC
// a quarter of a second.
constexpr const char* kPrelude = R"cuda(struct bf16 { unsigned short bits; };
struct f16 { unsigned short bits; };

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(bf16 x) { return __uint_as_float(x.bits << 16); }
__device__ __forceinline__ float to_float(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}

template <typename T> __device__ __forceinline__ T rounded(float x);
template <> __device__ __forceinline__ float rounded<float>(float x) { return x; }
template <> __device__ __forceinline__ bf16 rounded<bf16>(float x) {
  bf16 y;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
template <> __device__ __forceinline__ f16 rounded<f16>(float x) {
  f16 y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}

template <typename T> __device__ __forceinline__ float rounded_to(float x) {
  return to_float(rounded<T>(x));
}

template <typename T, int kCount> struct alignas(sizeof(T) * kCount) Pack { T values[kCount]; };

// The kernel may start while the one before it on the stream ends (a programmatic dependent launch):
// what that one wrote is there from here on. The next one may start when blocks of this one end.
__device__ __forceinline__ void wait_for_inputs() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Division by a size that the launch knows.
struct Divisor { unsigned value, multiplier, shift; };

// Where item `index` lies in each operand: one element, or a vector of them.
template <int kOperands> struct Walk {
  int rank;
  unsigned items, still, unused;  // still: operands that stand still along the last dimension
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
    if (kCount == 1 || (still >> operand & 1) == 0) {
      return *reinterpret_cast<const Pack<T, kCount>*>(from);
    }
    Pack<T, kCount> pack;
#pragma unroll
    for (int k = 0; k < kCount; ++k) pack.values[k] = *from;
    return pack;
  }
  template <typename T, int kCount>
  __device__ __forceinline__ void write(int operand, long long at, Pack<T, kCount> pack) const {
    *reinterpret_cast<Pack<T, kCount>*>(reinterpret_cast<T*>(data[operand]) + at) = pack;
  }
};

__device__ __forceinline__ float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// exp by the special-function unit, with what its argument rounds away put back: 2 ulp. NaN stays.
// From 88 on, just below where it would be infinite, it is what it is at 88: 1 / (1 + exp) is 0 there.
__device__ __forceinline__ float exponential(float x) {
  float bounded, y;
  asm("min.NaN.f32 %0, %1, 0f42B00000;" : "=f"(bounded) : "f"(x));
  asm("max.NaN.f32 %0, %1, 0fC2D00000;" : "=f"(bounded) : "f"(bounded));  // -104: 0 from there on
  const float power = bounded * 1.4426950408889634f;
  const float rest = fmaf(bounded, 1.4426950408889634f, -power);
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(power));
  return fmaf(y, rest * 0.6931471805599453f, y);
}
__device__ __forceinline__ float relu(float x) { return x < 0.0f ? 0.0f : x; }
__device__ __forceinline__ float sigmoid(float x) { return reciprocal(1.0f + exponential(-x)); }
__device__ __forceinline__ float silu(float x) { return x * sigmoid(x); }
__device__ __forceinline__ float gelu(float x) { return x * normcdff(x); }
// x (1 + tanh(u)) / 2 is x sigmoid(2u).
__device__ __forceinline__ float gelu_tanh(float x) {
  return x * sigmoid(1.5957691216057308f * x * fmaf(0.044715f * x, x, 1.0f));
}
)cuda";

}  // namespace

std::string cuda_prelude() { return kPrelude; }

}  // namespace epi::compiler
