// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/gpu/gpu_graph.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <mutex>

#include "epilogue/cuda/allocator.h"
#include "epilogue/cuda/device_guard.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

using cuda::check;

// Number of address sets to keep: two alternating buffers each for the input and the result.
constexpr size_t kMaxGraphs = 4;

// Captures the work that `start` launches.
class CapturedGraph {
 public:
  CapturedGraph(const cuda::Stream& stream, const std::function<void()>& start) {
    const cuda::StreamGuard guard(stream);
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    try {
      start();
    } catch (...) {
      cudaStreamEndCapture(stream.get(), &graph_);
      if (graph_ != nullptr) cudaGraphDestroy(graph_);
      cudaGetLastError();
      throw;
    }
    check(cudaStreamEndCapture(stream.get(), &graph_), "cudaStreamEndCapture");
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  ~CapturedGraph() { cudaGraphDestroy(graph_); }
  cudaGraph_t get() const { return graph_; }

 private:
  cudaGraph_t graph_ = nullptr;
};

// One executable graph, with its own arena and workspaces.
class Replay {
 public:
  Replay(int device, int64_t arena_bytes) : memory_(device), stream_(cuda::Stream::create(device)) {
    if (arena_bytes > 0) {
      arena_ =
          empty({arena_bytes}, {DType::kBool, {DeviceType::kCuda, static_cast<int8_t>(device)}});
    }
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() {
    if (exec_ == nullptr) return;
    // Launched work may still use the arena and the workspaces.
    int previous_device = 0;
    cudaGetDevice(&previous_device);
    cudaSetDevice(stream_.device());
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(exec_);
    cudaSetDevice(previous_device);
    cudaGetLastError();  // clear the error: it is not the caller's
  }

  bool is_for(const std::vector<std::byte*>& addresses) const {
    return exec_ != nullptr && addresses_ == addresses;
  }

  void prepare(const std::vector<std::byte*>& addresses, const StartAll& start) {
    addresses_.clear();  // matches no addresses until the update is complete
    const cuda::GraphMemory::Use use(memory_);
    const CapturedGraph graph(stream_, [&] { start(arena_); });
    if (exec_ != nullptr && !update(graph.get())) {
      // The arena is reused by another graph, which CUDA does not order after this one.
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      cudaGraphExecDestroy(exec_);
      exec_ = nullptr;
    }
    if (exec_ == nullptr) {
      check(cudaGraphInstantiate(&exec_, graph.get(), 0), "cudaGraphInstantiate");
    }
    addresses_ = addresses;
  }

  void launch(const cuda::Stream& stream) {
    check(cudaGraphLaunch(exec_, stream.get()), "cudaGraphLaunch");
  }

 private:
  bool update(cudaGraph_t graph) {
    cudaGraphExecUpdateResultInfo info{};
    const bool done = cudaGraphExecUpdate(exec_, graph, &info) == cudaSuccess;
    if (!done) cudaGetLastError();
    return done;
  }

  cuda::GraphMemory memory_;
  cuda::Stream stream_;  // used only for capture
  Tensor arena_;
  cudaGraphExec_t exec_ = nullptr;
  std::vector<std::byte*> addresses_;
};

class Graphs final : public GpuGraphs {
 public:
  Graphs(int device, int64_t arena_bytes) : device_(device), arena_bytes_(arena_bytes) {}

  void launch(const std::vector<std::byte*>& addresses, const StartAll& start) override {
    const cuda::DeviceGuard guard(device_);
    const std::lock_guard lock(mutex_);
    if (!has_run_) {
      run_first(start);
      has_run_ = true;
      return;
    }
    find(addresses, start).launch(cuda::current_stream(device_));
  }

 private:
  // The first run is not captured: it creates plans and loads kernels, which a capture does not
  // allow.
  void run_first(const StartAll& start) const {
    const Device device{DeviceType::kCuda, static_cast<int8_t>(device_)};
    start(arena_bytes_ > 0 ? empty({arena_bytes_}, {DType::kBool, device}) : Tensor());
  }

  // Finds or prepares the replay for these addresses and moves it to the front of the list.
  Replay& find(const std::vector<std::byte*>& addresses, const StartAll& start) {
    auto found = std::find_if(replays_.begin(), replays_.end(),
                              [&](const auto& replay) { return replay->is_for(addresses); });
    if (found == replays_.begin() && found != replays_.end()) return **found;
    const bool is_new = found == replays_.end();
    if (is_new && replays_.size() < kMaxGraphs) {
      replays_.push_back(std::make_unique<Replay>(device_, arena_bytes_));
    }
    if (is_new) {
      found = std::prev(replays_.end());  // new, or the least recently used
      (*found)->prepare(addresses, start);
    }
    std::rotate(replays_.begin(), found, found + 1);
    return *replays_.front();
  }

  const int device_;
  const int64_t arena_bytes_;
  std::mutex mutex_;
  bool has_run_ = false;
  std::vector<std::unique_ptr<Replay>> replays_;  // most recently used first
};

}  // namespace

std::unique_ptr<GpuGraphs> make_gpu_graphs(int device, int64_t arena_bytes) {
  return std::make_unique<Graphs>(device, arena_bytes);
}

bool gpu_is_capturing(int device) { return cuda::current_stream(device).is_capturing(); }

}  // namespace epi::compiler
