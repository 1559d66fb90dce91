// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/binary.cuh"

namespace epi::cuda {

struct Mul {
  template <typename C>
  static __device__ __forceinline__ C apply(C a, C b, C /*alpha*/) {
    using W = Wrapping<C>;
    return static_cast<C>(W(a) * W(b));
  }
};

void launch_mul(DType dtype, const StridedShape& shape, Scalars scalars, cudaStream_t stream) {
  visit_numeric(dtype, [&](auto type) {
    launch_binary<Mul, typename decltype(type)::type>(shape, scalars, stream);
  });
}

}  // namespace epi::cuda
