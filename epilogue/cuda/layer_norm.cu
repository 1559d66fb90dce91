// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/rows.cuh"

namespace epi::cuda {

struct LayerNorm {
  template <typename R>
  static __device__ void run(R& row, const NormParameters& parameters) {
    using C = typename R::C;
    const auto count = static_cast<C>(row.count());
    C total = 0;
    row.read([&](C value) { total += value; });
    const C mean = reduce_threads(total, SumOf()) / count;
    // Centered on the mean. E[x^2] - E[x]^2 cancels if the mean is far from zero.
    C squares = 0;
    row.reread([&](C value) { squares += (value - mean) * (value - mean); });
    const C variance = reduce_threads(squares, SumOf()) / count;
    const C scale = C(1) / ::sqrt(variance + static_cast<C>(parameters.eps));
    row.write(parameters,
              [&](C value, C weight, C bias) { return (value - mean) * scale * weight + bias; });
  }
};

void launch_layer_norm(DType dtype, const RowShape& rows, NormParameters parameters,
                       cudaStream_t stream) {
  launch_rows<LayerNorm>(dtype, rows, parameters, stream);
}

}  // namespace epi::cuda
