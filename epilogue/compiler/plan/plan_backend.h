// SPDX-License-Identifier: Apache-2.0
// The seam between a plan and the device that runs it. A backend makes the code of a graph's
// kernels, prepares each of them for sizes that are known as a step, and describes what it chose.
// Everything else of a plan is the same for every device.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "epilogue/compiler/plan/code_cache.h"
#include "epilogue/compiler/plan/kernel_list.h"
#include "epilogue/compiler/plan/memory_plan.h"
#include "epilogue/compiler/plan/packing.h"
#include "epilogue/compiler/plan/place.h"
#include "epilogue/tensor/device.h"

namespace epi::compiler {

// What a call of a kernel is reported as.
struct KernelCost {
  std::string_view name;
  int64_t bytes = 0;
  int64_t flops = 0;
};

// A kernel with its sizes filled in: everything but addresses is prepared. Any number of threads
// may run one at the same time.
class BoundStep {
 public:
  virtual ~BoundStep() = default;
  virtual void run(const CallTensors& tensors) const = 0;
};
using StepPtr = std::unique_ptr<const BoundStep>;

// Operands are the outputs, then the inputs; `strides` are theirs, in `shape`.
struct PointwiseBinding {
  size_t kernel = 0;
  KernelCost cost;
  Dims shape;
  std::vector<Place> operands;
  std::vector<Dims> strides;
};
// `others` are the outputs, then the operands of the epilogue.
struct GemmBinding {
  size_t kernel = 0;
  KernelCost cost;
  Rows rows;  // without their address
  Place x;
  int64_t packed_offset = 0;  // of the rows' packed form in the arena, in bytes
  std::vector<Place> others;
};
// An operator that runs as its eager kernel. Operands are in the order of references_of.
struct LibraryBinding {
  const Node* node = nullptr;
  std::vector<Place> operands;
  Place out;
  std::vector<int64_t> symbols;
};

// What is started on the current stream, given the bytes between kernels.
using StartAll = std::function<void(const Tensor& arena)>;

// A plan's launches as one CUDA graph. A graph keeps addresses: there is one for each set of them,
// and where they change, the launches are captured again and the graph is updated in place. Inputs
// are never copied.
class GpuGraphs {
 public:
  virtual ~GpuGraphs() = default;
  // Launches the graph for these addresses on the device's current stream; `start` is captured
  // where there is none. Any thread.
  virtual void launch(const std::vector<std::byte*>& addresses, const StartAll& start) = 0;
};

// What a backend chose for one kernel, as lines of `--show plan`; empty where it has nothing to
// say.
struct KernelText {
  std::string choice;   // what runs it, and why
  std::string packing;  // when its rows are packed
  std::string weights;  // how they are packed
};

class PlanBackend {
 public:
  virtual ~PlanBackend() = default;

  // Names of the kernels, in their order; the code as it is printed.
  virtual const std::vector<std::string>& names() const = 0;
  virtual const std::string& code() const = 0;
  virtual bool is_from_cache() const = 0;
  // Why the cache could not keep the code.
  virtual std::string not_kept() const = 0;
  virtual KernelText describe(size_t kernel) const = 0;

  // Whether GEMMs have room in the arena to pack their rows, and how much.
  virtual PackRows packs_rows() const = 0;
  virtual int64_t packed_bytes(size_t kernel, const Rows& rows) const = 0;

  // A GEMM without an epilogue that the library runs faster for so many rows.
  virtual bool prefers_library(size_t kernel, int64_t rows) const = 0;
  // Whether kernels with epilogues make good use of the device for these sizes.
  virtual bool is_fast_for(std::span<const int64_t> symbols) const = 0;

  virtual StepPtr bind(PointwiseBinding binding) const = 0;
  virtual StepPtr bind(GemmBinding binding) const = 0;
  virtual StepPtr bind(LibraryBinding binding) const = 0;

  // A replay of launches with an arena of its own; null where the device has none.
  virtual std::unique_ptr<GpuGraphs> make_graphs(int64_t arena_bytes) const = 0;
  // Returns when nothing that was started uses the code any more.
  virtual void wait() const = 0;
};

// `graph` and `kernels` must outlive the backend. That of a GPU is in gpu/.
std::unique_ptr<const PlanBackend> make_cpu_backend(const Graph& graph,
                                                    const std::vector<Kernel>& kernels,
                                                    UseCache cache);
std::unique_ptr<const PlanBackend> make_gpu_backend(const Graph& graph,
                                                    const std::vector<Kernel>& kernels, int device,
                                                    UseCache cache);
std::unique_ptr<const PlanBackend> make_backend(const Graph& graph,
                                                const std::vector<Kernel>& kernels, Device device,
                                                UseCache cache);

// The device's current stream is being captured by the caller: nothing can be compiled there.
bool is_capturing(Device device);
bool gpu_is_capturing(int device);  // in gpu/

}  // namespace epi::compiler
