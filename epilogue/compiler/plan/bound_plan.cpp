// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/bound_plan.h"

#include <algorithm>

#include "epilogue/cuda/tf32.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {

bool BoundPlan::is_for(std::span<const int64_t> other) const {
  return std::equal(other.begin(), other.end(), symbols.begin(), symbols.end());
}

void BoundPlan::run_steps(const CallTensors& tensors) const {
  for (const StepPtr& step : steps) step->run(tensors);
}

void BoundPlan::run_graph(CallTensors& tensors) const {
  std::vector<std::byte*> addresses;
  for (const Tensor& input : tensors.inputs) addresses.push_back(input.raw_data());
  for (const Tensor& result : tensors.results) addresses.push_back(result.raw_data());
  // A graph also bakes in the precision of its GEMMs.
  addresses.push_back(reinterpret_cast<std::byte*>(static_cast<uintptr_t>(cuda::allow_tf32())));
  graphs->launch(addresses, [&](const Tensor& arena) {
    tensors.arena = &arena;
    run_steps(tensors);
  });
}

CallTensors BoundPlan::run_into(std::span<const Tensor> inputs, std::span<Tensor> allocated) const {
  for (size_t i = 0; i < results.size(); ++i) {
    allocated[i] = empty(results[i].layout.shape, {results[i].dtype, device});
  }
  CallTensors tensors{inputs, allocated};
  if (graphs != nullptr && !is_capturing(device)) {
    run_graph(tensors);
  } else if (arena_bytes > 0) {
    const Tensor arena = empty({arena_bytes}, {DType::kBool, device});
    tensors.arena = &arena;
    run_steps(tensors);
  } else {
    run_steps(tensors);
  }
  tensors.arena = nullptr;  // no output is in it
  return tensors;
}

std::vector<Tensor> BoundPlan::run(std::span<const Tensor> inputs) const {
  std::vector<Tensor> allocated(results.size());
  const CallTensors tensors = run_into(inputs, allocated);
  std::vector<Tensor> returned;
  for (const Place& output : outputs) returned.push_back(tensors.tensor(output));
  return returned;
}

Tensor BoundPlan::run_single(std::span<const Tensor> inputs) const {
  EPI_CHECK(outputs.size() == 1);
  Tensor allocated;
  const CallTensors tensors = run_into(inputs, {&allocated, results.size()});
  return tensors.tensor(outputs[0]);
}

}  // namespace epi::compiler
