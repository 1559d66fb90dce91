// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/binary.cuh"

namespace epi::cuda {

struct SubFunction {
  template <typename C>
  static __device__ __forceinline__ C apply(C a, C b, C alpha) {
    using W = Wrapping<C>;
    return static_cast<C>(W(a) - W(alpha) * W(b));
  }
};

template <typename T>
struct Sub : Binary<SubFunction, T> {};
template <typename T>
struct SubScalar : WithScalar<SubFunction, T> {};

void launch_sub(DType dtype, const StridedShape& shape, Scalars scalars, cudaStream_t stream) {
  visit_numeric(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_binary<Sub<T>, SubScalar<T>>(shape, scalars, stream);
  });
}

}  // namespace epi::cuda
