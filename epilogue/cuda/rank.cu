// SPDX-License-Identifier: Apache-2.0
// argmax and topk: one block per row, one pass over the row for each index. A pass finds the first
// element that comes after the one found before, so that nothing is stored. The row stays in the L2
// cache.
#include "epilogue/cuda/element.cuh"
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/walk.cuh"

namespace epi::cuda {

constexpr int kRankWarp = 32;
constexpr int kRankThreads = 1024;

// Name the operators in traces.
template <typename T>
struct Argmax;
template <typename T>
struct Topk;

// An element and its place in the row. The place -1 is that of no element.
template <typename C>
struct Ranked {
  C value;
  int64_t index;
};

// NaN is larger than every number and equal to itself.
template <typename C>
__device__ __forceinline__ bool is_larger(C a, C b) {
  return a > b || (a != a && b == b);
}

// Whether `a` comes before `b`. Of equal elements, the first one does.
template <typename C>
__device__ __forceinline__ bool is_before(const Ranked<C>& a, const Ranked<C>& b, bool largest) {
  if (is_larger(a.value, b.value)) return largest;
  if (is_larger(b.value, a.value)) return !largest;
  return a.index < b.index;
}

template <typename C>
__device__ __forceinline__ Ranked<C> first_of(const Ranked<C>& a, const Ranked<C>& b,
                                              bool largest) {
  if (a.index < 0) return b;
  return b.index < 0 || is_before(a, b, largest) ? a : b;
}

// The first of the values of all threads of the block. Every thread gets it.
template <typename C>
__device__ __forceinline__ Ranked<C> first_of_block(Ranked<C> best, bool largest) {
  __shared__ Ranked<C> warps[kRankThreads / kRankWarp];
#pragma unroll
  for (int distance = kRankWarp / 2; distance > 0; distance /= 2) {
    const Ranked<C> other{__shfl_xor_sync(~0U, best.value, distance),
                          __shfl_xor_sync(~0U, best.index, distance)};
    best = first_of(best, other, largest);
  }
  __syncthreads();  // the previous call has finished reading `warps`
  if (threadIdx.x % kRankWarp == 0) warps[threadIdx.x / kRankWarp] = best;
  __syncthreads();
  best = warps[0];
  for (int i = 1; i < static_cast<int>(blockDim.x) / kRankWarp; ++i) {
    best = first_of(best, warps[i], largest);
  }
  return best;
}

template <typename Op, typename T>
__global__ void __launch_bounds__(kRankThreads)
    rank_rows(const __grid_constant__ Walk walk, int64_t count, int64_t stride, Ranking ranking) {
  using C = Compute<T>;
  int64_t offsets[2];
  offsets_of(walk, blockIdx.x, offsets);
  const T* x = reinterpret_cast<const T*>(walk.data[1]) + offsets[1];
  int64_t* out = reinterpret_cast<int64_t*>(walk.data[0]) + offsets[0];
  Ranked<C> last{C(0), -1};
  for (int64_t k = 0; k < ranking.count; ++k) {
    Ranked<C> best{C(0), -1};
    for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
      const Ranked<C> element{load(x[i * stride]), i};
      if (last.index >= 0 && !is_before(last, element, ranking.largest)) continue;
      best = first_of(best, element, ranking.largest);
    }
    last = first_of_block(best, ranking.largest);
    if (threadIdx.x == 0) out[k * ranking.stride] = last.index;
  }
}

template <template <typename> class Op>
void launch_ranking(DType dtype, const RowShape& rows, const Ranking& ranking,
                    cudaStream_t stream) {
  const Walk walk = make_walk(rows.rows, 1);
  const int threads = rows.count <= 256 ? kRankWarp : rows.count <= 8192 ? 256 : kRankThreads;
  visit_numeric(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    rank_rows<Op<T>, T>
        <<<walk.items, threads, 0, stream>>>(walk, rows.count, rows.strides[1], ranking);
  });
}

void launch_argmax(DType dtype, const RowShape& rows, const Ranking& ranking, cudaStream_t stream) {
  launch_ranking<Argmax>(dtype, rows, ranking, stream);
}

void launch_topk(DType dtype, const RowShape& rows, const Ranking& ranking, cudaStream_t stream) {
  launch_ranking<Topk>(dtype, rows, ranking, stream);
}

}  // namespace epi::cuda
