// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/scale.h"

namespace epi::cuda {
namespace {

// 256 threads: eight warps hide the latency of a 16-byte load; more blocks, not larger ones, fill
// the chip.
constexpr int kThreads = 256;
// Enough blocks for every multiprocessor of an H200 (132) several times over.
constexpr int64_t kMaxBlocks = 132 * 8;

__global__ void scale_kernel(const float* __restrict__ x, float scale, float* __restrict__ out,
                             int64_t count) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count;
       i += step) {
    out[i] = scale * x[i];
  }
}

}  // namespace

cudaError_t scale_f32(const float* x, float scale, float* out, int64_t count, cudaStream_t stream) {
  if (count == 0) return cudaSuccess;
  const int64_t wanted = (count + kThreads - 1) / kThreads;
  const auto blocks = static_cast<unsigned>(wanted < kMaxBlocks ? wanted : kMaxBlocks);
  scale_kernel<<<blocks, kThreads, 0, stream>>>(x, scale, out, count);
  return cudaGetLastError();
}

}  // namespace epi::cuda
