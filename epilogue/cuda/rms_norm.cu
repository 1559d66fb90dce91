// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/rows.cuh"

namespace epi::cuda {

struct RmsNorm {
  template <typename R>
  static __device__ void run(R& row, const NormParameters& parameters) {
    using C = typename R::C;
    C squares = 0;
    row.read([&](C value) { squares += value * value; });
    const C mean_square = reduce_threads(squares, SumOf()) / static_cast<C>(row.count());
    const C scale = C(1) / ::sqrt(mean_square + static_cast<C>(parameters.eps));
    row.write(parameters, [&](C value, C weight, C) { return value * scale * weight; });
  }
};

void launch_rms_norm(DType dtype, const RowShape& rows, NormParameters parameters,
                     cudaStream_t stream) {
  launch_rows<RmsNorm>(dtype, rows, parameters, stream);
}

}  // namespace epi::cuda
