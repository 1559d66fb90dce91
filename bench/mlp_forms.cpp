// SPDX-License-Identifier: Apache-2.0
// Small gated MLPs as one kernel and as two, replayed as a CUDA graph: what choose_mlp in
// epilogue/compiler/codegen/hopper_mlp.cpp is based on.
//   mlp_forms
#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "epilogue/compiler/gpu/glu_rows.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/cuda_backend.h"
#include "epilogue/cuda/cuda_error.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

using compiler::GluRows;
using compiler::HopperMlp;
using cuda::check;

constexpr TensorOptions kOptions{DType::kBF16, kCuda};
constexpr int kRounds = 15;
constexpr int kReplays = 500;

struct Spread {
  double median = 0;
  double lowest = 0;
  double highest = 0;
};

// Microseconds per replay of each graph. The graphs take turns.
std::vector<Spread> replay_us(const std::vector<std::function<void()>>& launches) {
  const cuda::Stream stream = cuda::Stream::create(0);
  std::vector<cudaGraphExec_t> graphs;
  for (const auto& launch : launches) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    const cuda::StreamGuard guard(stream);
    launch();  // compiles
    check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "capture");
    launch();
    check(cudaStreamEndCapture(stream.get(), &graph), "capture");
    check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    graphs.push_back(exec);
  }
  const cuda::Event start(cuda::Event::Timing::kOn);
  const cuda::Event end(cuda::Event::Timing::kOn);
  std::vector<std::vector<double>> times(graphs.size());
  for (int round = -2; round < kRounds; ++round) {
    for (size_t i = 0; i < graphs.size(); ++i) {
      start.record(stream);
      for (int call = 0; call < kReplays; ++call) cudaGraphLaunch(graphs[i], stream.get());
      end.record(stream);
      end.synchronize();
      if (round >= 0) times[i].push_back(static_cast<double>(end.ms_since(start)) * 1e3 / kReplays);
    }
  }
  std::vector<Spread> spreads;
  for (auto& one : times) {
    std::sort(one.begin(), one.end());
    spreads.push_back({one[one.size() / 2], one.front(), one.back()});
  }
  for (cudaGraphExec_t graph : graphs) cudaGraphExecDestroy(graph);
  return spreads;
}

void compare(int64_t k, int64_t n) {
  compiler::GluCode code;
  code.activation = pointwise::Function::kGeluTanh;
  code.k = code.out = k;
  code.n = n;
  const GluRows glu(code);
  const Tensor gate = randn({n, k}, 1, kOptions);
  const Tensor up = randn({n, k}, 2, kOptions);
  const Tensor down = randn({k, n}, 3, kOptions);
  const GluRows::Weights weights{gate.raw_data(), up.raw_data(), down.raw_data()};
  for (const int64_t rows : {1, 16, 128, 256, 512, 1024, 2048}) {
    const Tensor x = randn({rows, k}, 4, kOptions);
    const Tensor hidden = empty({rows, n}, kOptions);
    const Tensor y = empty({rows, k}, kOptions);
    std::vector<std::function<void()>> launches = {[&] {
      CUstream_st* stream = cuda::current_stream().get();
      glu.start_gate_up(rows, x.raw_data(), k, weights, hidden.raw_data(), stream);
      glu.start_down(rows, hidden.raw_data(), weights, y.raw_data(), stream);
    }};
    std::vector<int> groups;
    for (const int row_groups : {1, 2, 4, 8}) {
      const HopperMlp form{row_groups};
      if (form.shared_bytes(glu.mlp().first(), glu.mlp().second()) > compiler::kMaxSharedBytes ||
          (row_groups > 1 && 8 * row_groups >= rows)) {
        continue;
      }
      groups.push_back(row_groups);
      launches.emplace_back([&, form] {
        glu.mlp().start(form, rows,
                        {x.raw_data(),
                         k,
                         gate.raw_data(),
                         up.raw_data(),
                         down.raw_data(),
                         y.raw_data(),
                         {},
                         {}},
                        false, cuda::current_stream().get());
      });
    }
    const auto times = replay_us(launches);
    const std::optional<HopperMlp> chosen = glu.mlp().choose(rows);
    fmt::print("{}x{}x{}: two kernels {:.2f} us ({:.2f} to {:.2f})", rows, k, n, times[0].median,
               times[0].lowest, times[0].highest);
    for (size_t i = 0; i < groups.size(); ++i) {
      fmt::print("; {} rows per cluster {:.2f}{}", 16 * groups[i], times[i + 1].median,
                 chosen && chosen->row_groups == groups[i] ? " (chosen)" : "");
    }
    fmt::print("\n");
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
    fmt::print("gated MLPs in bf16, microseconds per replay of a CUDA graph, back to back\n");
    for (const auto& [k, n] :
         {std::pair(64, 256), std::pair(32, 128), std::pair(96, 256), std::pair(128, 512),
          std::pair(192, 512), std::pair(192, 768), std::pair(256, 512), std::pair(72, 200)}) {
      epi::bench::compare(k, n);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "mlp_forms: {}\n", error.what());
    return 2;
  }
}
