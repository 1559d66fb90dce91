// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/rows.cuh"

namespace epi::cuda {

struct Softmax {
  template <typename R>
  static __device__ void run(R& row, const NormParameters& /*none*/) {
    using C = typename R::C;
    C largest = -INFINITY;
    row.read([&](C value) { largest = LargerOf()(largest, value); });
    largest = reduce_threads(largest, LargerOf());
    C total = 0;
    row.reread([&](C value) { total += ::exp(value - largest); });
    total = reduce_threads(total, SumOf());
    // Recomputes exp instead of using a second buffer, because the kernel is memory-bound.
    row.write({}, [&](C value, C, C) { return ::exp(value - largest) / total; });
  }
};

void launch_softmax(DType dtype, const RowShape& rows, cudaStream_t stream) {
  launch_rows<Softmax>(dtype, rows, {}, stream);
}

}  // namespace epi::cuda
