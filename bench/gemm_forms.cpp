// SPDX-License-Identifier: Apache-2.0
// The cost of each form of a custom GEMM on this GPU, back to back: the table in
// epilogue/compiler/codegen/hopper_choice.cpp.
//   gemm_forms
// A block multiplies one tile after another. A tile takes a fixed time, for the epilogue and the
// start of the pipeline, and a time per step of 64 columns of k: both follow from GEMMs of full
// waves of tiles with two depths. For decoding, the rate at which the weights are read.
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "epilogue/base/clock.h"
#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/attribute.h"
#include "epilogue/cuda/cuda_backend.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

using compiler::GemmCode;
using compiler::GpuGemm;
using compiler::GpuGemmCall;

constexpr TensorOptions kOptions{DType::kBF16, kCuda};
constexpr int kRounds = 9;
constexpr double kRoundNs = 20e6;
constexpr double kWarmupNs = 300e6;  // until the GPU is at its power limit

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Nanoseconds per call.
double time_ns(const std::function<void()>& call) {
  const cuda::Event start(cuda::Event::Timing::kOn);
  const cuda::Event end(cuda::Event::Timing::kOn);
  const cuda::Stream stream = cuda::current_stream();
  const auto round = [&](int calls) {
    start.record(stream);
    for (int i = 0; i < calls; ++i) call();
    end.record(stream);
    end.synchronize();
    return static_cast<double>(end.ms_since(start)) * 1e6 / calls;
  };
  round(3);
  const int calls = std::max(1, static_cast<int>(kRoundNs / round(10)));
  for (const int64_t begin = now_ns(); static_cast<double>(now_ns() - begin) < kWarmupNs;) {
    round(calls);
  }
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) times.push_back(round(calls));
  return median(times);
}

// silu(gate) * up, or one GEMM without an epilogue.
GemmCode code_of(int gemms, int64_t n, int64_t k) {
  GemmCode code;
  code.gemms = gemms;
  code.dtype = DType::kBF16;
  code.n = n;
  code.k = k;
  code.outputs = {DType::kBF16};
  code.program.inputs = gemms;
  code.program.outputs = {0};
  if (gemms == 2) {
    code.program.steps = {{pointwise::Function::kSilu, {{0, 0}}},
                          {pointwise::Function::kMul, {{2, 0}, {1, 0}}}};
    code.program.outputs = {3};
  }
  return code;
}

// The GEMM with random weights. A call runs the form that `bind` selects.
template <typename Bind>
double gemm_ns(const GemmCode& code, int64_t rows, const Bind& bind) {
  std::vector<Tensor> weights;
  for (int i = 0; i < code.gemms; ++i) weights.push_back(randn({code.n, code.k}, i, kOptions));
  const GpuGemm gemm("gemm", code, weights, 0, compiler::UseCache::kNo);
  const Tensor x = randn({rows, code.k}, 2, kOptions);
  const Tensor out = empty({rows, code.n}, kOptions);
  const GpuGemmCall call = bind(gemm);
  CUstream_st* stream = cuda::current_stream().get();
  return time_ns([&] { call.start(x.raw_data(), out.raw_data(), {}, 0, stream); });
}

void print_tiles(int processors) {
  constexpr int64_t kRowTiles = 32;
  int64_t waves = 8;
  while (waves * processors % kRowTiles != 0) waves *= 2;
  constexpr int64_t kShallow = 1024;
  constexpr int64_t kDeep = 4096;
  fmt::print("ns per tile, and per step of it; TFLOP/s of full waves at k = 4096\n");
  for (const int gemms : {2, 1}) {
    for (const compiler::HopperTile& tile : compiler::hopper_tiles()) {
      const int64_t columns = tile.columns(code_of(gemms, 0, 0));
      const int64_t n = columns * waves * processors / kRowTiles;
      const int64_t rows = tile.rows * kRowTiles;
      const auto wave_ns = [&](int64_t k) {
        const GemmCode code = code_of(gemms, n, k);
        return gemm_ns(code, rows, [&](const GpuGemm& gemm) { return gemm.bind(rows, k, tile); }) /
               waves;
      };
      const double shallow = wave_ns(kShallow);
      const double deep = wave_ns(kDeep);
      const double step = (deep - shallow) * compiler::kTileDepth / (kDeep - kShallow);
      const double fixed = deep - step * kDeep / compiler::kTileDepth;
      const double flops = 2.0 * gemms * static_cast<double>(rows * n) * kDeep;
      fmt::print("{{{}, {}, {}, {:.0f}, {:.1f}}}, {:.0f} TFLOP/s\n", gemms, tile.rows, tile.half,
                 fixed, step, flops / (deep * waves) / 1e3);
    }
  }
}

void print_decode() {
  fmt::print("bytes of weights per ns for few rows\n");
  for (const int gemms : {2, 1}) {
    const GemmCode code = gemms == 2 ? code_of(2, 32768, 4096) : code_of(1, 16384, 16384);
    for (const int64_t rows : {1, 8, 16, 32, 64}) {
      const double ns =
          gemm_ns(code, rows, [&](const GpuGemm& gemm) { return gemm.bind(rows, code.k); });
      const double bytes = 2.0 * gemms * static_cast<double>(code.n * code.k);
      fmt::print("{} GEMMs, {} rows: {:.0f}\n", gemms, rows, bytes / ns);
    }
  }
}

}  // namespace
}  // namespace epi::bench

int main() {
  try {
    epi::register_cpu_backend();
    if (const auto ready = epi::register_cuda_backend(); !ready) {
      throw epi::Error(ready.error().message);
    }
    cudaDeviceProp gpu{};
    cudaGetDeviceProperties(&gpu, 0);
    fmt::print("{}, {} SMs, CUDA {}\n", gpu.name, gpu.multiProcessorCount, CUDART_VERSION);
    epi::bench::print_tiles(epi::cuda::attribute(cudaDevAttrMultiProcessorCount, 0));
    epi::bench::print_decode();
  } catch (const std::exception& error) {
    fmt::print(stderr, "gemm_forms: {}\n", error.what());
    return 2;
  }
}
