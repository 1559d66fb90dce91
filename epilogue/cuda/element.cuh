// SPDX-License-Identifier: Apache-2.0
// Element types on the device. bf16 and f16 are computed in f32 and rounded once, at the end.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "epilogue/tensor/dtype_enum.h"

namespace epi::cuda {

using bf16 = __nv_bfloat16;
using f16 = __half;

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, bf16> || std::is_same_v<T, f16>;
template <typename T>
inline constexpr bool kIsReal = kIsHalf<T> || std::is_floating_point_v<T>;

// The range of an integer type. Device code cannot call std::numeric_limits.
template <typename T>
struct Limits {
  static constexpr T kMin = std::numeric_limits<T>::min();
  static constexpr T kMax = std::numeric_limits<T>::max();
};

// The type in which a T is computed.
template <typename T>
using Compute = std::conditional_t<kIsHalf<T>, float, T>;

template <typename T>
__device__ __forceinline__ Compute<T> load(T value) {
  if constexpr (std::is_same_v<T, bf16>) {
    return __bfloat162float(value);
  } else if constexpr (std::is_same_v<T, f16>) {
    return __half2float(value);
  } else {
    return value;
  }
}

template <typename T>
__device__ __forceinline__ T rounded(Compute<T> value) {
  if constexpr (std::is_same_v<T, bf16>) {
    return __float2bfloat16_rn(value);
  } else if constexpr (std::is_same_v<T, f16>) {
    return __float2half_rn(value);
  } else {
    return value;
  }
}

// `kCount` elements that are loaded or stored at once.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T values[kCount];
};

template <typename T>
struct Type {
  using type = T;
};

// The visit functions call f(Type<T>{}) with the element type of `dtype`, which must belong to the
// class in the function's name.
template <typename F>
void visit_floating(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF64:
      return f(Type<double>{});
    case DType::kBF16:
      return f(Type<bf16>{});
    case DType::kF16:
      return f(Type<f16>{});
    default:
      return f(Type<float>{});
  }
}
template <typename F>
void visit_numeric(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kI64:
      return f(Type<int64_t>{});
    case DType::kI32:
      return f(Type<int32_t>{});
    default:
      return visit_floating(dtype, f);
  }
}
template <typename F>
void visit_all(DType dtype, F&& f) {
  if (dtype == DType::kBool) return f(Type<bool>{});
  if (dtype == DType::kI8) return f(Type<int8_t>{});
  visit_numeric(dtype, f);
}

}  // namespace epi::cuda
