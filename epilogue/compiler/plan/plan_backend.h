// SPDX-License-Identifier: Apache-2.0
// The interface between a plan and the device that runs it. A backend generates the code of a
// graph's kernels, binds each kernel to concrete sizes as a step, and describes its choices. The
// rest of a plan is device-independent.
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

// The name and cost under which a kernel run is reported.
struct KernelCost {
  std::string_view name;
  int64_t bytes = 0;
  int64_t flops = 0;
};

// A kernel bound to concrete sizes: everything except addresses is prepared. Thread-safe.
class BoundStep {
 public:
  virtual ~BoundStep() = default;
  virtual void run(const CallTensors& tensors) const = 0;
};
using StepPtr = std::unique_ptr<const BoundStep>;

// `operands` are the outputs, then the inputs. `strides` are theirs in `shape`.
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
  Rows rows;  // without an address
  Place x;
  int64_t packed_offset = 0;  // byte offset of the packed rows in the arena
  std::vector<Place> others;
};
// An operator that runs as its eager kernel, with operands in the order of references_of.
struct LibraryBinding {
  const Node* node = nullptr;
  std::vector<Place> operands;
  Place out;
  std::vector<int64_t> symbols;
};

// Launches the work on the current stream, with this arena for intermediate values.
using StartAll = std::function<void(const Tensor& arena)>;

// A plan's launches as one CUDA graph. A graph contains addresses, so there is one per set of
// addresses. If they change, the launches are captured again and the graph is updated in place.
// Inputs are never copied.
class GpuGraphs {
 public:
  virtual ~GpuGraphs() = default;
  // Launches the graph for these addresses on the device's current stream, and captures `start` if
  // there is none. Thread-safe.
  virtual void launch(const std::vector<std::byte*>& addresses, const StartAll& start) = 0;
};

// A backend's choices for one kernel, as lines of `--show plan`. Empty if there is nothing to
// report.
struct KernelText {
  std::string choice;   // the implementation, and the reason
  std::string weights;  // how the weights are packed
};

class PlanBackend {
 public:
  virtual ~PlanBackend() = default;

  // The names of the kernels, in order, and the code for printing.
  virtual const std::vector<std::string>& names() const = 0;
  virtual const std::string& code() const = 0;
  // The code of each kernel alone. Empty for library kernels.
  virtual const std::vector<std::string>& kernel_code() const = 0;
  virtual bool is_from_cache() const = 0;
  // Why the code could not be cached.
  virtual std::string cache_error() const = 0;
  virtual KernelText describe(size_t kernel) const = 0;
  // The parameters that were packed.
  virtual std::vector<TakenParameter> taken() const { return {}; }

  // Whether the arena has room for GEMMs to pack their rows, and how many bytes.
  virtual PackRows packs_rows() const = 0;
  virtual int64_t packed_bytes(size_t kernel, const Rows& rows) const = 0;

  // Whether the library runs a GEMM without an epilogue faster for this many rows.
  virtual bool prefers_library(size_t kernel, int64_t rows) const = 0;
  // Whether kernels with epilogues use the device well for these sizes.
  virtual bool is_fast_for(std::span<const int64_t> symbols) const = 0;

  virtual StepPtr bind(PointwiseBinding binding) const = 0;
  virtual StepPtr bind(GemmBinding binding) const = 0;
  virtual StepPtr bind(LibraryBinding binding) const = 0;

  // Whether a GEMM and the next kernel, which alone reads its result, run as one for this many
  // rows. That one may write its result before all of it has read its inputs.
  virtual bool joins_next(size_t /*kernel*/, int64_t /*rows*/) const { return false; }
  virtual StepPtr bind_joined(GemmBinding first, GemmBinding second) const;

  // A graph replay with its own arena, or null if the device does not support it.
  virtual std::unique_ptr<GpuGraphs> make_graphs(int64_t arena_bytes) const = 0;
  // Waits until no launched work uses the code.
  virtual void wait() const = 0;
};

// `graph` and `kernels` must outlive the backend. The GPU backend is in gpu/.
std::unique_ptr<const PlanBackend> make_cpu_backend(const Graph& graph,
                                                    const std::vector<Kernel>& kernels,
                                                    UseCache cache);
std::unique_ptr<const PlanBackend> make_gpu_backend(const Graph& graph,
                                                    const std::vector<Kernel>& kernels, int device,
                                                    UseCache cache);
std::unique_ptr<const PlanBackend> make_backend(const Graph& graph,
                                                const std::vector<Kernel>& kernels, Device device,
                                                UseCache cache);

// Whether the caller is capturing the device's current stream. Nothing can be compiled then.
bool is_capturing(Device device);
bool gpu_is_capturing(int device);  // in gpu/

}  // namespace epi::compiler
