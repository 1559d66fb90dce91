// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/pointwise.cuh"

namespace epi::cuda {

template <typename T>
struct Neg {
  static constexpr int kInputs = 1;
  using In = T;
  using Out = T;
  __device__ __forceinline__ T operator()(Compute<T> x) const {
    if constexpr (std::is_integral_v<T>) {
      // Unsigned, because the negative of the smallest integer is itself.
      return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
    } else {
      return rounded<T>(-x);
    }
  }
};

void launch_neg(DType dtype, const StridedShape& shape, cudaStream_t stream) {
  visit_numeric(dtype, [&](auto type) {
    launch_pointwise(shape, Neg<typename decltype(type)::type>{}, stream);
  });
}

}  // namespace epi::cuda
