// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/binary.cuh"

namespace epi::cuda {

struct MulFunction {
  template <typename C>
  static __device__ __forceinline__ C apply(C a, C b, C /*alpha*/) {
    using W = Wrapping<C>;
    return static_cast<C>(W(a) * W(b));
  }
};

template <typename T>
struct Mul : Binary<MulFunction, T> {};
template <typename T>
struct MulScalar : WithScalar<MulFunction, T> {};

void launch_mul(DType dtype, const StridedShape& shape, Scalars scalars, cudaStream_t stream) {
  visit_numeric(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    launch_binary<Mul<T>, MulScalar<T>>(shape, scalars, stream);
  });
}

}  // namespace epi::cuda
