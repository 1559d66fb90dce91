// SPDX-License-Identifier: Apache-2.0
// A plan bound to concrete sizes: every address is a base and an offset (place.h), every shape is
// static. Replaying it allocates the arena and the result, and runs the steps in order.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "epilogue/compiler/plan/plan_backend.h"

namespace epi::compiler {

struct BoundPlan {
  bool is_for(std::span<const int64_t> other) const;
  // Thread-safe.
  Tensor run(std::span<const Tensor> inputs) const;

  std::vector<int64_t> symbols;
  Device device;
  int64_t arena_bytes = 0;
  Place result{};  // as allocated
  Place output{};  // as returned: may be a view of the result
  std::vector<StepPtr> steps{};
  std::unique_ptr<GpuGraphs> graphs{};  // null: kernels are launched one by one

 private:
  void run_steps(const CallTensors& tensors) const;
  void run_graph(CallTensors& tensors) const;
};

}  // namespace epi::compiler
