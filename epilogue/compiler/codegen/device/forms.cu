// SPDX-License-Identifier: Apache-2.0
// Every form of kernel that the compiler generates, with every pointwise function in it. Not
// linked: compiled with each build for CUDA, so that a mistake shows before a GPU runs it.
#include <utility>

#include "epilogue/compiler/codegen/device/stream.cuh"
#include "epilogue/compiler/codegen/device/tiles.cuh"
#include "epilogue/pointwise/table.h"

namespace epi::device {
namespace {

template <typename V, typename F, size_t... kTerms>
__device__ __forceinline__ V call(const F& function, V x,
                                  std::index_sequence<kTerms...> /*terms*/) {
  return function((static_cast<void>(kTerms), x)...);
}

template <pointwise::Function kFunction>
using TermsOf = std::make_index_sequence<static_cast<size_t>(pointwise::info(kFunction).inputs) +
                                         pointwise::info(kFunction).scalar_count>;

// Every function, with `x` for all of its terms, added up.
template <typename V>
__device__ __forceinline__ V all_functions(V x) {
  V sum = x;
#define EPI_POINTWISE(Name, function, ...)                                \
  sum = sum + call([](auto... values) { return function(values...); }, x, \
                   TermsOf<pointwise::Function::k##Name>());
#define EPI_POINTWISE_VARIANT EPI_POINTWISE
#include "epilogue/pointwise/operators.def"
  return sum;
}

struct AllFunctions {
  static __device__ __forceinline__ Pair apply(const Operands& operands, int row, int column, int m,
                                               int n, Pair v0) {
    if (row >= m || column >= n) return 0.0f;
    return all_functions(v0 + read_pair<bf16>(operands.data[0], column, 1));
  }
  static __device__ __forceinline__ Pair apply(const Operands& operands, int row, int column, int m,
                                               int n, Pair v0, Pair v1) {
    return rounded_to<f16>(apply(operands, row, column, m, n, v0) * v1);
  }
};

template <int kCount>
__device__ __forceinline__ void pointwise_body(const Walk<2>& walk) {
  const unsigned item = blockIdx.x * 256 + threadIdx.x;
  if (item >= walk.items) return;
  long long at[2];
  walk.find(item, at);
  wait_for_inputs();
  const auto in0 = walk.template read<bf16, kCount>(1, at[1]);
  Pack<f16, kCount> out0;
#pragma unroll
  for (int k = 0; k < kCount; ++k) {
    out0.values[k] = rounded<f16>(all_functions(to_float(in0.values[k])));
  }
  walk.write(0, at[0], out0);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256)
    pointwise_form(const __grid_constant__ Walk<2> walk) {
  pointwise_body<8>(walk);
}

extern "C" __global__ void __launch_bounds__(256)
    pointwise_strided_form(const __grid_constant__ Walk<2> walk) {
  pointwise_body<1>(walk);
}

extern "C" __global__ void __launch_bounds__(384, 1)
    tiles_form(const __grid_constant__ TensorMap x_map, const __grid_constant__ TensorMap w0_map,
               const __grid_constant__ TensorMap w1_map, const __grid_constant__ TensorMap out_map,
               const Operands operands, const int m, const int n, const int k) {
  run_tiles<bf16, Tile<96, 4, 32, 2>, AllFunctions>(x_map, w0_map, w1_map, out_map, operands, m, n,
                                                    k);
}

extern "C" __global__ void __launch_bounds__(160, 1)
    stream_form(const __grid_constant__ TensorMap x_map, const __grid_constant__ TensorMap w0_map,
                const __grid_constant__ TensorMap w1_map, f16* out, const Operands operands,
                const int m, const int n, const int k) {
  run_stream<f16, Stream<16, 16, 4, 4, 8192, 1>, AllFunctions>(x_map, w0_map, w1_map, out, operands,
                                                               m, n, k);
}

}  // namespace epi::device
