// SPDX-License-Identifier: Apache-2.0
// The cost of each form of a custom GEMM on this GPU, back to back: the table in
// epilogue/compiler/codegen/hopper_choice.cpp.
//   gemm_forms           the time of a tile, and the rate of decoding
//   gemm_forms choices   for few rows: each tile, and how far the chosen one is from the fastest
// A block multiplies one tile after another. A tile takes a fixed time, for the epilogue and the
// start of the pipeline, and a time per step of 64 columns of k: both follow from GEMMs of full
// waves of tiles with two depths. For decoding, the rate at which the weights are read.
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/base/clock.h"
#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "epilogue/cpu/cpu_backend.h"
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
// A warmup until the GPU is at its power limit, and shorter times for many shapes.
struct Duration {
  double round_ns;
  double warmup_ns;
};
constexpr Duration kLong{20e6, 300e6};
constexpr Duration kShort{4e6, 40e6};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Nanoseconds per call.
double time_ns(const Duration& duration, const std::function<void()>& call) {
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
  const int calls = std::max(1, static_cast<int>(duration.round_ns / round(10)));
  for (const int64_t begin = now_ns();
       static_cast<double>(now_ns() - begin) < duration.warmup_ns;) {
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
double gemm_ns(const Duration& duration, const GemmCode& code, int64_t rows, const Bind& bind) {
  std::vector<Tensor> weights;
  for (int i = 0; i < code.gemms; ++i) weights.push_back(randn({code.n, code.k}, i, kOptions));
  const GpuGemm gemm("gemm", code, weights, 0, compiler::UseCache::kNo);
  const Tensor x = randn({rows, code.k}, 2, kOptions);
  const Tensor out = empty({rows, code.n}, kOptions);
  const GpuGemmCall call = bind(gemm);
  CUstream_st* stream = cuda::current_stream().get();
  return time_ns(duration, [&] { call.start(x.raw_data(), out.raw_data(), {}, 0, stream); });
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
        return gemm_ns(kLong, code, rows,
                       [&](const GpuGemm& gemm) { return gemm.bind(rows, k, tile); }) /
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
          gemm_ns(kLong, code, rows, [&](const GpuGemm& gemm) { return gemm.bind(rows, code.k); });
      const double bytes = 2.0 * gemms * static_cast<double>(code.n * code.k);
      fmt::print("{} GEMMs, {} rows: {:.0f}\n", gemms, rows, bytes / ns);
    }
  }
}

void print_choices(int processors) {
  fmt::print("us of each tile, * for the chosen one; its time relative to the fastest\n");
  std::vector<double> ratios;
  constexpr std::pair<int64_t, int64_t> kModels[] = {{768, 3072},   {1536, 8960},  {2048, 8192},
                                                     {2560, 10240}, {4096, 14336}, {5120, 13824},
                                                     {8192, 3584}};
  for (const auto& [dim, hidden] : kModels) {
    for (const int gemms : {2, 1}) {
      const GemmCode code = gemms == 2 ? code_of(2, hidden, dim) : code_of(1, dim, hidden);
      for (const int64_t rows : {65, 128, 192, 256, 384, 512, 1024}) {
        const auto chosen = choose_tile(code, rows, processors);
        double best = 0;
        double ours = 0;
        fmt::print("{} GEMMs {}x{}x{}:", gemms, rows, code.k, code.n);
        for (const compiler::HopperTile& tile : compiler::hopper_tiles()) {
          if (code.k < tile.min_depth(code)) continue;
          const double ns = gemm_ns(kShort, code, rows, [&](const GpuGemm& gemm) {
            return gemm.bind(rows, code.k, tile);
          });
          const bool is_chosen = tile.rows == chosen.rows && tile.half == chosen.half;
          best = best == 0 ? ns : std::min(best, ns);
          if (is_chosen) ours = ns;
          fmt::print(" {}x{} {:.1f}{}", tile.rows, tile.half, ns / 1000, is_chosen ? "*" : "");
        }
        fmt::print("  {:.3f}\n", ours / best);
        ratios.push_back(ours / best);
      }
    }
  }
  fmt::print("{} shapes: median {:.3f}, worst {:.3f}\n", ratios.size(), median(ratios),
             *std::max_element(ratios.begin(), ratios.end()));
}

}  // namespace
}  // namespace epi::bench

int main(int argc, char** argv) {
  try {
    epi::register_cpu_backend();
    if (const auto ready = epi::register_cuda_backend(); !ready) {
      throw epi::Error(ready.error().message);
    }
    cudaDeviceProp gpu{};
    cudaGetDeviceProperties(&gpu, 0);
    fmt::print("{}, {} SMs, CUDA {}\n", gpu.name, gpu.multiProcessorCount, CUDART_VERSION);
    if (argc == 2 && std::string_view(argv[1]) == "choices") {
      epi::bench::print_choices(gpu.multiProcessorCount);
      return 0;
    }
    epi::bench::print_tiles(gpu.multiProcessorCount);
    epi::bench::print_decode();
  } catch (const std::exception& error) {
    fmt::print(stderr, "gemm_forms: {}\n", error.what());
    return 2;
  }
}
