// SPDX-License-Identifier: Apache-2.0
// How long it takes to read the weights of a gated MLP, and nothing else: what decoding is compared
// with.
//   weight_reads K N
// Two kernels, for gate and up and for down, copy pieces of weight rows into a ring in shared
// memory, as the decode form does (epilogue/compiler/codegen/device/decode.cuh), and overlap as
// dependent launches do. Prints the time of both, for several lengths of the pieces. Calls cycle
// through copies of the weights that do not fit into the L2 cache.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "epilogue/compiler/codegen/device/hopper.cuh"
#include "epilogue/compiler/codegen/device/walk.cuh"

namespace {

using namespace epi::device;

constexpr int kRows = 16;
constexpr int kMaxStages = 64;
constexpr int kRingBytes = 216 << 10;
constexpr long kCacheBytes = 240L << 20;
constexpr int kRounds = 9;
constexpr int kCalls = 100;

// A block reads `kRows` rows at a time, a piece of each per stage.
__global__ void __launch_bounds__(32, 1) read_rows(const char* weights, int rows, long row_bytes,
                                                   int piece, int stages, unsigned* never) {
  extern __shared__ __align__(128) char ring[];
  __shared__ __align__(8) u64 full[kMaxStages];
  const int lane = threadIdx.x;
  const int pieces = static_cast<int>(row_bytes / piece), tiles = rows / kRows;
  const int steps =
      (tiles - static_cast<int>(blockIdx.x) + gridDim.x - 1) / static_cast<int>(gridDim.x) * pieces;
  if (lane == 0) {
    for (int s = 0; s < stages; ++s) init_barrier(address_of(full + s), 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncwarp();
  const auto load = [&](int step) {
    const int stage = step % stages;
    const long row = (blockIdx.x + step / pieces * gridDim.x) * kRows + lane;
    if (lane == 0) expect_bytes(address_of(full + stage), kRows * piece);
    __syncwarp();
    if (lane < kRows) {
      copy_bytes(address_of(ring) + (stage * kRows + lane) * piece,
                 weights + row * row_bytes + static_cast<long>(step % pieces) * piece, piece,
                 address_of(full + stage));
    }
  };
  for (int step = 0; step < ::min(stages, steps); ++step) load(step);
  wait_for_inputs();
  unsigned sum = 0;
  for (int step = 0; step < steps; ++step) {
    wait(address_of(full + step % stages), step / stages & 1);
    sum += *reinterpret_cast<unsigned*>(ring + step % stages * kRows * piece);
    if (step + stages < steps) load(step + stages);
  }
  if (sum == 0x12345678) *never = sum;  // so that the reads are not removed
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "weight_reads: %s\n", cudaGetErrorString(code));
  std::exit(2);
}

// With the longest pieces up to `longest` bytes that divide a row.
void launch(const char* weights, long rows, long row_bytes, int longest, unsigned* never) {
  int piece = longest;
  while (row_bytes % piece != 0) piece -= 16;
  static int processors = 0;
  if (processors == 0) {
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    check(cudaFuncSetAttribute(read_rows, cudaFuncAttributeMaxDynamicSharedMemorySize, kRingBytes));
  }
  const int stages = std::min(kMaxStages, kRingBytes / (kRows * piece));
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = processors;
  config.blockDim = 32;
  config.dynamicSmemBytes = static_cast<size_t>(stages) * kRows * piece;
  config.attrs = &overlap;
  config.numAttrs = 1;
  check(cudaLaunchKernelEx(&config, read_rows, weights, static_cast<int>(rows), row_bytes, piece,
                           stages, never));
}

}  // namespace

int main(int argc, char** argv) {
  const long k = argc == 3 ? std::atol(argv[1]) : 0, n = argc == 3 ? std::atol(argv[2]) : 0;
  if (k <= 0 || n <= 0 || k % 64 != 0 || n % 64 != 0) {
    std::fprintf(stderr, "usage: weight_reads K N, multiples of 64\n");
    return 2;
  }
  const long block_bytes = 6 * k * n, copies = kCacheBytes / block_bytes + 2;
  char* weights = nullptr;
  unsigned* never = nullptr;
  check(cudaMalloc(&weights, static_cast<size_t>(copies * block_bytes)));
  check(cudaMemset(weights, 0, static_cast<size_t>(copies * block_bytes)));
  check(cudaMalloc(&never, sizeof *never));
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, 0));
  std::printf("%s, CUDA %d\n", gpu.name, CUDART_VERSION);
  cudaEvent_t start = nullptr, end = nullptr;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  for (const int piece : {1024, 2048, 4096}) {
    std::vector<double> times;
    for (int round = 0; round < kRounds; ++round) {
      check(cudaEventRecord(start));
      for (int call = 0; call < kCalls; ++call) {
        const char* block = weights + call % copies * block_bytes;
        launch(block, 2 * n, 2 * k, piece, never);
        launch(block + 4 * k * n, k, 2 * n, piece, never);
      }
      check(cudaEventRecord(end));
      check(cudaEventSynchronize(end));
      float ms = 0;
      check(cudaEventElapsedTime(&ms, start, end));
      times.push_back(ms * 1000.0 / kCalls);
    }
    std::sort(times.begin(), times.end());
    std::printf("pieces of up to %4d bytes: %.2f us (%.2f to %.2f), %.2f TB/s\n", piece,
                times[kRounds / 2], times.front(), times.back(),
                static_cast<double>(block_bytes) / times[kRounds / 2] / 1e6);
  }
  return 0;
}
