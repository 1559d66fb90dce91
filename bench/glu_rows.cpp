// SPDX-License-Identifier: Apache-2.0
// epilogue/glu.h over many numbers of rows: the custom kernels against cuBLASLt, and what
// EPI_GLU_AUTO chooses. Calls are captured into a CUDA graph and cycle through copies of the
// weights that do not fit into the L2 cache, like the layers of a model.
//   glu_rows K N M[,M...]
// Prints, for each M, microseconds per call: median of rounds back to back, and of single replays
// after a pause.
#include <cuda_runtime_api.h>
#include <epilogue/glu.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/profile_empty_kernel.h"
#include "epilogue/base/clock.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/cuda_backend.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

constexpr int64_t kCacheBytes = int64_t{60} << 20;  // larger than the L2 cache of an H200
constexpr int kCalls = 24;                          // per graph
constexpr int kRounds = 15;
constexpr TensorOptions kOptions{DType::kBF16, kCuda};

void check(epi_glu_status status) {
  if (status != EPI_GLU_OK) {
    throw Error(fmt::format("{} {}", epi_glu_status_text(status), epi_glu_message()));
  }
}

struct Weights {
  Tensor gate, up, down;
};

struct Times {
  double busy_us = 0;    // back to back
  double paused_us = 0;  // one replay after a pause
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Rows {
 public:
  Rows(int64_t k, int64_t n) : k_(k), n_(n) {
    epi_glu_block block{};
    block.struct_size = sizeof block;
    block.dtype = EPI_GLU_BF16;
    block.activation = EPI_GLU_SILU;
    block.k = k;
    block.n = n;
    block.out = k;
    check(epi_glu_create(&block, &glu_));
    const int64_t start_ns = now_ns();
    check(epi_glu_prepare(glu_));
    fmt::print("prepared in {:.2f} s\n", static_cast<double>(now_ns() - start_ns) / 1e9);
    const int64_t copies = std::max<int64_t>(2, kCacheBytes / (6 * k * n) + 1);
    for (int64_t i = 0; i < copies; ++i) {
      weights_.push_back(
          {randn({n, k}, 1, kOptions), randn({n, k}, 2, kOptions), randn({k, n}, 3, kOptions)});
    }
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() { epi_glu_destroy(glu_); }

  Times measure(int64_t m, epi_glu_path path) const {
    const cuda::Stream stream = cuda::Stream::create();
    const Tensor x = randn({m, k_}, 4, kOptions);
    const Tensor y = empty({m, k_}, kOptions);
    const Tensor workspace =
        empty({static_cast<int64_t>(epi_glu_workspace_bytes(glu_, m, path) / 2)}, kOptions);
    epi_glu_call call{};
    call.struct_size = sizeof call;
    call.path = path;
    call.stream = stream.get();
    call.m = m;
    call.x = x.raw_data();
    call.x_stride = k_;
    call.y = y.raw_data();
    call.workspace = workspace.raw_data();
    call.workspace_bytes = static_cast<size_t>(workspace.size_bytes());
    cuda::synchronize();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal);
    for (int i = 0; i < kCalls; ++i) {
      const Weights& weights = weights_[static_cast<size_t>(i) % weights_.size()];
      call.gate = weights.gate.raw_data();
      call.up = weights.up.raw_data();
      call.down = weights.down.raw_data();
      check(epi_glu_run(glu_, &call));
    }
    cudaStreamEndCapture(stream.get(), &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    const cuda::Event start(cuda::Event::Timing::kOn);
    const cuda::Event end(cuda::Event::Timing::kOn);
    const auto replay = [&](int times) {
      start.record(stream);
      for (int i = 0; i < times; ++i) cudaGraphLaunch(exec, stream.get());
      end.record(stream);
      end.synchronize();
      return static_cast<double>(end.ms_since(start)) * 1000 / (kCalls * times);
    };
    replay(3);
    std::vector<double> busy;
    std::vector<double> paused;
    for (int round = 0; round < kRounds; ++round) busy.push_back(replay(4));
    for (int round = 0; round < kRounds / 3; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      paused.push_back(replay(1));
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    return {median(busy), median(paused)};
  }

  // A call with these rows, to be repeated.
  std::function<void()> repeated(int64_t m) const {
    const Tensor x = randn({m, k_}, 4, kOptions);
    const Tensor y = empty({m, k_}, kOptions);
    const Tensor workspace =
        empty({static_cast<int64_t>(epi_glu_workspace_bytes(glu_, m, EPI_GLU_AUTO) / 2)}, kOptions);
    return [this, x, y, workspace, m] {
      epi_glu_call call{};
      call.struct_size = sizeof call;
      call.m = m;
      call.x = x.raw_data();
      call.x_stride = k_;
      call.gate = weights_[0].gate.raw_data();
      call.up = weights_[0].up.raw_data();
      call.down = weights_[0].down.raw_data();
      call.y = y.raw_data();
      call.workspace = workspace.raw_data();
      call.workspace_bytes = static_cast<size_t>(workspace.size_bytes());
      check(epi_glu_run(glu_, &call));
    };
  }

 private:
  int64_t k_;
  int64_t n_;
  epi_glu* glu_ = nullptr;
  std::vector<Weights> weights_;
};

// Host time in nanoseconds of one call: medians of calls that fit into the GPU's queue, and of
// calls with an idle GPU.
std::string host_text(const std::function<void()>& body) {
  constexpr int kQueued = 100;
  std::vector<double> queued;
  std::vector<double> idle;
  for (int round = 0; round < 51; ++round) {
    cuda::synchronize();
    int64_t start_ns = now_ns();
    body();
    idle.push_back(static_cast<double>(now_ns() - start_ns));
    start_ns = now_ns();
    for (int i = 0; i < kQueued; ++i) body();
    queued.push_back(static_cast<double>(now_ns() - start_ns) / kQueued);
  }
  return fmt::format("{:.0f} ns queued, {:.0f} ns with an idle GPU", median(queued), median(idle));
}

int run(const std::vector<std::string>& args) {
  if (args.size() != 3) {
    fmt::print(stderr, "usage: glu_rows K N M[,M...]\n");
    return 2;
  }
  register_cpu_backend();
  if (const auto ready = register_cuda_backend(); !ready) throw Error(ready.error().message);
  const Rows rows(std::stoll(args[0]), std::stoll(args[1]));
  fmt::print("k {} n {}, microseconds per call: back to back (after a pause)\n", args[0], args[1]);
  fmt::print("{:>7}{:>20}{:>20}{:>20}{:>20}{:>18}\n", "m", "auto", "custom", "cuBLASLt",
             "cuBLASLt down", "auto/best");
  std::stringstream list(args[2]);
  for (std::string m; std::getline(list, m, ',');) {
    const auto time = [&](epi_glu_path path) { return rows.measure(std::stoll(m), path); };
    const Times choice = time(EPI_GLU_AUTO);
    const Times custom = time(EPI_GLU_CUSTOM);
    const Times library = time(EPI_GLU_LIBRARY);
    const Times library_down = time(EPI_GLU_LIBRARY_DOWN);
    const auto text = [](const Times& t) {
      return fmt::format("{:.2f} ({:.2f})", t.busy_us, t.paused_us);
    };
    const double best_busy = std::min({custom.busy_us, library.busy_us, library_down.busy_us});
    const double best_paused =
        std::min({custom.paused_us, library.paused_us, library_down.paused_us});
    fmt::print("{:>7}{:>20}{:>20}{:>20}{:>20}{:>10.3f} ({:.3f})\n", m, text(choice), text(custom),
               text(library), text(library_down), choice.busy_us / best_busy,
               choice.paused_us / best_paused);
  }
  fmt::print("host time, 1 row:           {}\n", host_text(rows.repeated(1)));
  fmt::print("host time, 128 rows:        {}\n", host_text(rows.repeated(128)));
  fmt::print("two empty kernels:          {}\n", host_text([] {
               launch_empty_kernel(nullptr);
               launch_empty_kernel(nullptr);
             }));
  return 0;
}

}  // namespace
}  // namespace epi::bench

int main(int argc, char** argv) {
  try {
    return epi::bench::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "glu_rows: {}\n", error.what());
    return 1;
  }
}
