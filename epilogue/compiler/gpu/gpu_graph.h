// SPDX-License-Identifier: Apache-2.0
// A plan's launches as one CUDA graph. A graph keeps addresses: there is one for each set of them,
// and where they change, the launches are captured again and the graph is updated in place. Inputs
// are never copied.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

// What is started on the current stream, given the bytes between kernels.
using StartAll = std::function<void(const Tensor& arena)>;

class GpuGraphs {
 public:
  virtual ~GpuGraphs() = default;
  // Launches the graph for these addresses on the device's current stream; `start` is captured
  // where there is none. Any thread.
  virtual void launch(const std::vector<std::byte*>& addresses, const StartAll& start) = 0;
};

// `arena_bytes` of its own for each graph.
std::unique_ptr<GpuGraphs> make_gpu_graphs(int device, int64_t arena_bytes);

// The current stream is being captured by the caller: into his graph, without one of ours.
bool gpu_is_capturing(int device);

}  // namespace epi::compiler
