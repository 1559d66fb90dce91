// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/binary.cuh"

namespace epi::cuda {

struct DivFunction {
  template <typename C>
  static __device__ __forceinline__ C apply(C a, C b, C /*alpha*/) {
    return a / b;
  }
};

template <typename T>
struct Div : Binary<DivFunction, T> {};
template <typename T>
struct DivScalar : WithScalar<DivFunction, T> {};

void launch_div(DType dtype, const StridedShape& shape, Scalars scalars, cudaStream_t stream) {
  visit_floating(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_binary<Div<T>, DivScalar<T>>(shape, scalars, stream);
  });
}

}  // namespace epi::cuda
