// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/binary.cuh"

namespace epi::cuda {

struct Div {
  template <typename C>
  static __device__ __forceinline__ C apply(C a, C b, C /*alpha*/) {
    return a / b;
  }
};

void launch_div(DType dtype, const StridedShape& shape, Scalars scalars, cudaStream_t stream) {
  visit_floating(dtype, [&](auto type) {
    launch_binary<Div, typename decltype(type)::type>(shape, scalars, stream);
  });
}

}  // namespace epi::cuda
