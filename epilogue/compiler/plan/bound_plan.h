// SPDX-License-Identifier: Apache-2.0
// A plan bound to concrete sizes: every address is a base and an offset (place.h), every shape is
// static. Replaying it allocates the arena and the results, and runs the steps in order.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "epilogue/compiler/plan/plan_backend.h"

namespace epi::compiler {

struct BoundPlan {
  bool is_for(std::span<const int64_t> other) const;
  // Returns all outputs. Thread-safe.
  std::vector<Tensor> run(std::span<const Tensor> inputs) const;
  // Returns the only output.
  Tensor run_single(std::span<const Tensor> inputs) const;

  std::vector<int64_t> symbols;
  Device device;
  int64_t arena_bytes = 0;
  std::vector<Place> results{};  // as allocated
  std::vector<Place> outputs{};  // as returned: results, inputs, parameters, or views of them
  std::vector<StepPtr> steps{};
  std::unique_ptr<GpuGraphs> graphs{};  // null: kernels are launched one by one

 private:
  // Allocates `results`, which has room for them, and fills them.
  CallTensors run_into(std::span<const Tensor> inputs, std::span<Tensor> results) const;
  void run_steps(const CallTensors& tensors) const;
  void run_graph(CallTensors& tensors) const;
};

}  // namespace epi::compiler
