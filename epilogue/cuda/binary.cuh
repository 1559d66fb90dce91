// SPDX-License-Identifier: Apache-2.0
// Functions of two elements, or of one and a scalar.
#pragma once

#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/pointwise.cuh"

namespace epi::cuda {

// Signed overflow wraps, as in ATen.
template <typename T, bool kInteger = std::is_integral_v<T>>
struct WrappingOf {
  using type = T;
};
template <typename T>
struct WrappingOf<T, true> {
  using type = std::make_unsigned_t<T>;
};
template <typename T>
using Wrapping = typename WrappingOf<T>::type;

// `Op::apply(a, b, alpha)` of two tensors.
template <typename Op, typename T>
struct Binary {
  static constexpr int kInputs = 2;
  using In = T;
  using Out = T;
  Compute<T> alpha;
  __device__ __forceinline__ T operator()(Compute<T> a, Compute<T> b) const {
    return rounded<T>(Op::apply(a, b, alpha));
  }
};

// The same with the second a scalar.
template <typename Op, typename T>
struct WithScalar {
  static constexpr int kInputs = 1;
  using In = T;
  using Out = T;
  Compute<T> alpha;
  Compute<T> other;
  __device__ __forceinline__ T operator()(Compute<T> a) const {
    return rounded<T>(Op::apply(a, other, alpha));
  }
};

// `F` of two tensors, `G` of one and a scalar; both have names of their own, which traces show.
template <typename F, typename G>
void launch_binary(const StridedShape& shape, Scalars scalars, cudaStream_t stream) {
  using C = Compute<typename F::In>;
  if (shape.operands == 3) {
    F f;
    f.alpha = static_cast<C>(scalars.alpha);
    launch_pointwise(shape, f, stream);
  } else {
    G g;
    g.alpha = static_cast<C>(scalars.alpha);
    g.other = static_cast<C>(scalars.other);
    launch_pointwise(shape, g, stream);
  }
}

}  // namespace epi::cuda
