// SPDX-License-Identifier: Apache-2.0
// Instantiates every form of kernel that the compiler generates: pointwise with vectors and with
// strides, tiles, streams and decoding of one GEMM and of two, and MLPs, with each matrix
// instruction. One instance of each form contains every pointwise function. Not linked: every CUDA
// build compiles this file, so that errors surface before a GPU runs the code.
#include <utility>

#include "epilogue/compiler/codegen/device/decode.cuh"
#include "epilogue/compiler/codegen/device/mlp.cuh"
#include "epilogue/compiler/codegen/device/stream.cuh"
#include "epilogue/compiler/codegen/device/tall_tiles.cuh"
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

// The sum of all functions, with `x` for every term.
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

// The epilogue of `exact` GEMMs, one element at a time.
struct OneByOne {
  static __device__ __forceinline__ float one(const Operands& operands, int row, int column, int m,
                                              int n, float v0) {
    return v0 + read_one<bf16>(operands.data[0], 3LL * row + column);
  }
  static __device__ __forceinline__ Pair apply(const Operands& operands, int row, int column, int m,
                                               int n, Pair v0) {
    return {one(operands, row, column, m, n, v0.a), one(operands, row, column + 1, m, n, v0.b)};
  }
  static __device__ __forceinline__ Pair apply(const Operands& operands, int row, int column, int m,
                                               int n, Pair v0, Pair v1) {
    return apply(operands, row, column, m, n, v0 + v1);
  }
};

struct Fast : FastActivations {
  static __device__ __forceinline__ Pair apply(const Operands& operands, int row, int column, int m,
                                               int n, Pair v0, Pair v1) {
    return silu(v0) * gelu_tanh(v1);
  }
};

template <typename T, typename Shape, typename Epilogue>
__global__ void __launch_bounds__(384, 1)
    tiles_form(const __grid_constant__ TensorMap x_map, const __grid_constant__ TensorMap w0_map,
               const __grid_constant__ TensorMap w1_map, const __grid_constant__ TensorMap out_map,
               const Operands operands, const int m, const int n, const int k) {
  if constexpr (Shape::kRows == 128) {
    run_tiles<T, Shape, Epilogue>(x_map, w0_map, w1_map, out_map, operands, m, n, k);
  } else {
    run_tall_tiles<T, Shape, Epilogue>(x_map, w0_map, w1_map, out_map, operands, m, n, k);
  }
}

template <typename T, typename Shape, typename Epilogue>
__global__ void __launch_bounds__(160, 1)
    stream_form(const __grid_constant__ TensorMap x_map, const __grid_constant__ TensorMap w0_map,
                const __grid_constant__ TensorMap w1_map, T* out, const Operands operands,
                const int m, const int n, const int k) {
  run_stream<T, Shape, Epilogue>(x_map, w0_map, w1_map, out, operands, m, n, k);
}

template <typename T, typename Shape, typename Epilogue>
__global__ void __launch_bounds__(384, 1)
    decode_form(const T* x, const long long x_stride, const T* w0, const T* w1, T* out,
                const Operands operands, const int m, const int n, const int k, const int stages,
                const int early) {
  run_decode<T, Shape, Epilogue>(x, x_stride, w0, w1, out, operands, m, n, k, stages, early);
}

template <typename T, int kGemms, typename Epilogue, typename DownEpilogue>
__global__ void __launch_bounds__(256, 1)
    mlp_form(const T* x, const long long x_stride, const T* w0, const T* w1, const T* down, T* y,
             const Operands operands, const Operands down_operands, const MlpSizes sizes) {
  run_mlp<T, kGemms, Epilogue, DownEpilogue>(x, x_stride, w0, w1, down, y, operands, down_operands,
                                             sizes);
}

// Stages, strips and bytes as chosen by hopper_tiles.cpp and hopper_stream.cpp for n 3072, k 4096.
#define EPI_TILES(T, Epilogue, ...)                                                         \
  template __global__ void tiles_form<T, Tile<__VA_ARGS__>, Epilogue>(                      \
      const __grid_constant__ TensorMap, const __grid_constant__ TensorMap,                 \
      const __grid_constant__ TensorMap, const __grid_constant__ TensorMap, const Operands, \
      const int, const int, const int);
EPI_TILES(bf16, AllFunctions, 128, 96, 5, 32, 2)
EPI_TILES(bf16, OneByOne, 128, 64, 6, 64, 1)
EPI_TILES(f16, OneByOne, 128, 96, 4, 64, 1)
EPI_TILES(bf16, OneByOne, 128, 128, 3, 64, 1)
EPI_TILES(f16, OneByOne, 128, 64, 6, 64, 2)
EPI_TILES(f16, OneByOne, 128, 128, 4, 64, 2)
EPI_TILES(bf16, Fast, 256, 96, 3, 32, 2)
EPI_TILES(f16, OneByOne, 256, 96, 3, 64, 1)
EPI_TILES(bf16, OneByOne, 256, 64, 4, 64, 1)
EPI_TILES(f16, OneByOne, 256, 64, 4, 64, 2)

#define EPI_STREAM(T, Epilogue, ...)                                        \
  template __global__ void stream_form<T, Stream<__VA_ARGS__>, Epilogue>(   \
      const __grid_constant__ TensorMap, const __grid_constant__ TensorMap, \
      const __grid_constant__ TensorMap, T*, const Operands, const int, const int, const int);
EPI_STREAM(f16, AllFunctions, 16, 16, 4, 13, 8192, 1)
EPI_STREAM(bf16, OneByOne, 16, 8, 4, 18, 8192, 1)
EPI_STREAM(f16, OneByOne, 32, 32, 4, 6, 8704, 1)
EPI_STREAM(bf16, OneByOne, 32, 64, 4, 4, 16896, 1)
EPI_STREAM(f16, OneByOne, 16, 8, 4, 10, 8192, 2)
EPI_STREAM(bf16, OneByOne, 32, 16, 4, 5, 8192, 2)
EPI_STREAM(bf16, OneByOne, 16, 32, 4, 6, 8704, 2)
EPI_STREAM(f16, OneByOne, 32, 64, 4, 3, 16896, 2)

#define EPI_DECODE(T, Epilogue, ...)                                                           \
  template __global__ void decode_form<T, Decode<__VA_ARGS__>, Epilogue>(                      \
      const T*, const long long, const T*, const T*, T*, const Operands, const int, const int, \
      const int, const int, const int);
EPI_DECODE(bf16, AllFunctions, 2)
EPI_DECODE(f16, OneByOne, 2)
EPI_DECODE(f16, AllFunctions, 1)
EPI_DECODE(bf16, OneByOne, 1)

#define EPI_MLP(T, ...)                                                                            \
  template __global__ void mlp_form<T, __VA_ARGS__>(const T*, const long long, const T*, const T*, \
                                                    const T*, T*, const Operands, const Operands,  \
                                                    const MlpSizes);
EPI_MLP(bf16, 2, Fast, OneByOne)
EPI_MLP(f16, 2, AllFunctions, OneByOne)
EPI_MLP(bf16, 1, OneByOne, AllFunctions)

}  // namespace epi::device
