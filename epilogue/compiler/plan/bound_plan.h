// SPDX-License-Identifier: Apache-2.0
// A plan with its free sizes filled in: every address is a base (an input, the arena, the result, a
// parameter) and an offset, every shape is a number. Replaying it allocates the arena and the
// result, and calls the kernels one after the other.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "epilogue/compiler/gpu/gpu_code.h"
#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "epilogue/compiler/gpu/gpu_graph.h"
#include "epilogue/compiler/gpu/gpu_pointwise.h"
#include "epilogue/compiler/gpu/gpu_product.h"
#include "epilogue/compiler/plan/generate.h"
#include "epilogue/compiler/plan/memory_plan.h"
#include "epilogue/compiler/plan/run_kernels.h"

namespace epi::compiler {

// A compiled graph; what a bound plan refers to, and must not outlive.
struct CompiledGraph {
  Graph graph;
  std::vector<Kernel> kernels;
  ValueId result = 0;  // what the output is, or is a view of
  MemoryPlan memory;
  Device device = kCpu;
  Source source;
  Generated generated;           // on the CPU
  std::vector<void*> functions;  // of each kernel; null for the library's
  GpuGenerated gpu;              // on a GPU
  std::vector<GpuFunctions> gpu_functions;
  std::vector<std::unique_ptr<const GpuGemm>> gpu_gemms;  // of each kernel; null for others
  std::string shown;                                      // the code as it is printed
  bool graph_replay = false;                              // launches are replayed as a CUDA graph
  struct Packed {
    GemmTile tile;
    Tensor panels;
  };
  std::vector<Packed> weights;  // of each kernel; empty for others than GEMMs
};

// What is no input, below zero.
inline constexpr int kArena = -1;
inline constexpr int kResult = -2;
inline constexpr int kParameter = -3;

// A tensor that is known but for its storage.
struct Place {
  int base = 0;  // an input's number, or one of those above
  Layout layout{};
  int64_t offset = 0;  // in elements from the base's first; of the arena from its start
  DType dtype = DType::kF32;
  Tensor parameter{};
};
struct PointwiseStep {
  PointwiseCall call;  // without addresses
  GpuPointwise gpu{};
  std::vector<Place> operands;
  std::vector<Dims> strides;
};
struct GemmStep {
  GemmCall call;  // without addresses
  Place x;
  int64_t packed_offset = 0;  // of the arena, in bytes
  std::vector<Place> others;
  GpuGemmCall gpu{};
};
struct LibraryStep {
  const Node* node = nullptr;
  std::vector<Place> operands;  // in the order of references_of
  Place out;
  std::optional<GpuProduct> gpu{};  // without the detour through the dispatcher
};
struct BoundStep {
  std::variant<LibraryStep, PointwiseStep, GemmStep> what;
  KernelCost cost;
};

class BoundPlan {
 public:
  BoundPlan(const CompiledGraph& compiled, std::span<const int64_t> symbols);

  bool is_for(std::span<const int64_t> symbols) const;
  // Any number of threads at the same time.
  Tensor run(std::span<const Tensor> inputs) const;

 private:
  friend class Binder;
  struct Bases;  // of one call

  void run_steps(const Bases& bases) const;
  void run_step(const BoundStep& step, const Bases& bases) const;
  bool start_product(const LibraryStep& step, const Bases& bases) const;
  void start_gemm(const GemmStep& step, const KernelCost& cost, const Bases& bases) const;
  void run_graph(Bases& bases) const;

  std::vector<int64_t> symbols_;
  Device device_;
  std::unique_ptr<GpuGraphs> graphs_;  // null: launches are made one by one
  int64_t arena_bytes_ = 0;
  Place result_;  // as it is allocated
  Place output_;  // as it is returned
  std::vector<BoundStep> steps_;
};

}  // namespace epi::compiler
