// SPDX-License-Identifier: Apache-2.0
// gelu_tanh_and_mul and silu_and_mul for a GPU: out = act(gate) * up, in one pass, for any shape.
// Each kernel has three forms, whose launches recipes.cpp describes:
//   NAME              contiguous matrices as one row: 16-byte vectors, single elements at the end
//   NAME_rows<BYTES>  rows with gaps between them: 16-byte vectors, with two tile widths
//   NAME_any          single elements, for sizes and addresses that are not aligned
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "epilogue/cuda/approximate.cuh"

namespace {

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float to_float(__half x) { return __half2float(x); }
template <typename T>
__device__ __forceinline__ T rounded(float x);
template <>
__device__ __forceinline__ float rounded<float>(float x) {
  return x;
}
template <>
__device__ __forceinline__ __nv_bfloat16 rounded<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}
template <>
__device__ __forceinline__ __half rounded<__half>(float x) {
  return __float2half_rn(x);
}

// 16-bit types use the special-function unit, so that the kernel stays memory-bound.
template <typename T>
struct GeluTanh {
  static __device__ __forceinline__ float apply(float x) {
    if constexpr (sizeof(T) == 2) return epi::cuda::gelu_tanh(epi::cuda::Approximate(x)).value;
    return epi::cuda::gelu_tanh(x);
  }
};
template <typename T>
struct Silu {
  static __device__ __forceinline__ float apply(float x) {
    if constexpr (sizeof(T) == 2) return epi::cuda::silu(epi::cuda::Approximate(x)).value;
    return epi::cuda::silu(x);
  }
};

template <typename T>
struct alignas(16) Vector {
  static constexpr int kCount = 16 / sizeof(T);
  T elements[kCount];
};

template <template <typename> class Activation, typename T>
__device__ __forceinline__ void run_element(T gate, T up, T& out) {
  out = rounded<T>(Activation<T>::apply(to_float(gate)) * to_float(up));
}

template <template <typename> class Activation, typename T>
__device__ __forceinline__ void run_vector(const T* gate, const T* up, T* out) {
  // Plain loads and stores, one vector per thread. Measured once on 8192x3072 (H200, not in
  // bench/): streaming loads alone were slower; streaming loads and stores were slightly faster in
  // isolation. They are not used, because the next GEMM should find the result in the L2 cache.
  const auto g = *reinterpret_cast<const Vector<T>*>(gate);
  const auto u = *reinterpret_cast<const Vector<T>*>(up);
  Vector<T> result;
#pragma unroll
  for (int i = 0; i < Vector<T>::kCount; ++i) {
    run_element<Activation>(g.elements[i], u.elements[i], result.elements[i]);
  }
  *reinterpret_cast<Vector<T>*>(out) = result;
}

template <template <typename> class Activation, typename T>
__device__ __forceinline__ void run_flat(const T* gate, const T* up, T* out, int64_t count) {
  const int64_t at =
      (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * Vector<T>::kCount;
  if (at + Vector<T>::kCount <= count) {
    run_vector<Activation>(gate + at, up + at, out + at);
  } else {
    for (int64_t i = at; i < count; ++i) run_element<Activation>(gate[i], up[i], out[i]);
  }
}

// A block has 256 threads and 256 vectors: `width` columns of several rows.
template <template <typename> class Activation, typename T>
__device__ __forceinline__ void run_rows(const T* gate, const T* up, T* out, int rows, int columns,
                                         int64_t gate_stride, int64_t up_stride, int64_t out_stride,
                                         int width) {
  constexpr int kCount = Vector<T>::kCount;
  const int tiles = (columns + width - 1) / width;
  const int vectors = width / kCount;
  const int64_t row =
      static_cast<int64_t>(blockIdx.x / tiles) * (256 / vectors) + threadIdx.x / vectors;
  const int64_t at =
      static_cast<int64_t>(blockIdx.x % tiles) * width + threadIdx.x % vectors * kCount;
  if (row >= rows || at >= columns) return;
  run_vector<Activation>(gate + row * gate_stride + at, up + row * up_stride + at,
                         out + row * out_stride + at);
}

template <template <typename> class Activation, typename T>
__device__ __forceinline__ void run_any(const T* gate, const T* up, T* out, int64_t rows,
                                        int64_t columns, int64_t gate_stride, int64_t up_stride,
                                        int64_t out_stride) {
  const int64_t tiles = (columns + 255) / 256;
  const int64_t row = blockIdx.x / tiles;
  const int64_t at = blockIdx.x % tiles * 256 + threadIdx.x;
  if (row >= rows || at >= columns) return;
  run_element<Activation>(gate[row * gate_stride + at], up[row * up_stride + at],
                          out[row * out_stride + at]);
}

}  // namespace

// BYTES is the width of a tile in bytes: `row_bytes` in recipes.cpp.
#define EPI_ROWS(NAME, ACTIVATION, T, BYTES)                                               \
  extern "C" __global__ void __launch_bounds__(256)                                        \
      NAME##_rows##BYTES(const T* gate, const T* up, T* out, int rows, int columns,        \
                         int64_t gate_stride, int64_t up_stride, int64_t out_stride) {     \
    run_rows<ACTIVATION>(gate, up, out, rows, columns, gate_stride, up_stride, out_stride, \
                         BYTES / static_cast<int>(sizeof(T)));                             \
  }

#define EPI_KERNELS(NAME, ACTIVATION, T)                                                   \
  extern "C" __global__ void __launch_bounds__(256)                                        \
      NAME(const T* gate, const T* up, T* out, int64_t count) {                            \
    run_flat<ACTIVATION>(gate, up, out, count);                                            \
  }                                                                                        \
  EPI_ROWS(NAME, ACTIVATION, T, 512)                                                       \
  EPI_ROWS(NAME, ACTIVATION, T, 4096)                                                      \
  extern "C" __global__ void __launch_bounds__(256)                                        \
      NAME##_any(const T* gate, const T* up, T* out, int64_t rows, int64_t columns,        \
                 int64_t gate_stride, int64_t up_stride, int64_t out_stride) {             \
    run_any<ACTIVATION>(gate, up, out, rows, columns, gate_stride, up_stride, out_stride); \
  }

EPI_KERNELS(epi_pkg_gelu_tanh_and_mul_bf16, GeluTanh, __nv_bfloat16)
EPI_KERNELS(epi_pkg_gelu_tanh_and_mul_f16, GeluTanh, __half)
EPI_KERNELS(epi_pkg_gelu_tanh_and_mul_f32, GeluTanh, float)
EPI_KERNELS(epi_pkg_silu_and_mul_bf16, Silu, __nv_bfloat16)
EPI_KERNELS(epi_pkg_silu_and_mul_f16, Silu, __half)
EPI_KERNELS(epi_pkg_silu_and_mul_f32, Silu, float)
