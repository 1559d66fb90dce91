// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/bound_plan.h"

#include <algorithm>
#include <array>

#include "epilogue/compiler/plan/binder.h"
#include "epilogue/compiler/plan/library_call.h"
#include "epilogue/cpu/strided_walk.h"
#include "epilogue/cuda/tf32.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
// The tensors of one call that places refer to.
struct BoundPlan::Bases {
  std::span<const Tensor> inputs;
  Tensor arena;  // of bytes
  Tensor result;

  const Tensor& base(const Place& place) const {
    if (place.base == kArena) return arena;
    if (place.base == kResult) return result;
    return place.base == kParameter ? place.parameter : inputs[static_cast<size_t>(place.base)];
  }
  std::byte* address(const Place& place) const {
    return base(place).raw_data() + place.offset * size_bytes(place.dtype);
  }
  Tensor tensor(const Place& place) const {
    const Tensor& whole = base(place);
    return {whole.storage(), place.layout, whole.offset() + place.offset, place.dtype};
  }
};

BoundPlan::BoundPlan(const CompiledGraph& compiled, std::span<const int64_t> symbols)
    : symbols_(symbols.begin(), symbols.end()), device_(compiled.device) {
  Binder(compiled, *this).bind();
  if (compiled.graph_replay) graphs_ = make_gpu_graphs(device_.index, arena_bytes_);
}

bool BoundPlan::is_for(std::span<const int64_t> symbols) const {
  return std::equal(symbols.begin(), symbols.end(), symbols_.begin(), symbols_.end());
}

void BoundPlan::run_step(const BoundStep& step, const Bases& bases) const {
  std::array<std::byte*, cpu::kMostFusedOperands> addresses;
  const auto find = [&](const std::vector<Place>& places) {
    std::transform(places.begin(), places.end(), addresses.begin(),
                   [&](const Place& place) { return bases.address(place); });
    return std::span<std::byte* const>(addresses).first(places.size());
  };
  if (const auto* library = std::get_if<LibraryStep>(&step.what)) {
    if (start_product(*library, bases)) return;
    size_t next = 0;
    const auto tensor_of = [&](const ValueRef&) { return bases.tensor(library->operands[next++]); };
    call_library(*library->node, tensor_of, symbols_, bases.tensor(library->out));
  } else if (const auto* pointwise = std::get_if<PointwiseStep>(&step.what)) {
    PointwiseCall call = pointwise->call;
    if (numel(call.shape) == 0) return;
    if (device_ != kCpu) {
      const RecordFunction range(step.cost.name);
      const auto cost = [&] { return step.cost.on_device(); };
      const auto launch = [&] { pointwise->gpu.launch(find(pointwise->operands), device_.index); };
      return run_launch(cost, launch);
    }
    call.data = find(pointwise->operands);
    call.strides = pointwise->strides;
    run_pointwise(call, step.cost);
  } else {
    const auto& gemm = std::get<GemmStep>(step.what);
    GemmCall call = gemm.call;
    if (call.x.count == 0) return;
    if (device_ != kCpu) return start_gemm(gemm, step.cost, bases);
    call.x.data = bases.address(gemm.x);
    call.packed_x = bases.arena.raw_data() + gemm.packed_offset;
    call.others = find(gemm.others);
    run_gemm(call, step.cost);
  }
}

void BoundPlan::start_gemm(const GemmStep& step, const KernelCost& cost, const Bases& bases) const {
  std::array<std::byte*, kMostHopperOperands> operands{};
  const size_t count = step.others.size() - 1;  // behind the output
  for (size_t i = 0; i < count; ++i) operands[i] = bases.address(step.others[i + 1]);
  const RecordFunction range(cost.name);
  const auto launch = [&] {
    step.gpu.start(bases.address(step.x), bases.address(step.others[0]),
                   std::span(operands).first(count), device_.index, gpu_stream(device_.index));
  };
  run_launch([&] { return cost.on_device(); }, launch);
}

// Under a listener the operator has its row, with its inputs: then it goes through the dispatcher.
bool BoundPlan::start_product(const LibraryStep& step, const Bases& bases) const {
  if (!step.gpu || current_listener() != nullptr) return false;
  std::array<std::byte*, 3> addresses{};
  for (size_t i = 0; i < step.operands.size(); ++i) addresses[i] = bases.address(step.operands[i]);
  return step.gpu->start(std::span(addresses).first(step.operands.size()), bases.address(step.out),
                         device_.index);
}

void BoundPlan::run_steps(const Bases& bases) const {
  for (const BoundStep& step : steps_) run_step(step, bases);
}

void BoundPlan::run_graph(Bases& bases) const {
  std::vector<std::byte*> addresses;
  for (const Tensor& input : bases.inputs) addresses.push_back(input.raw_data());
  if (bases.result.defined()) addresses.push_back(bases.result.raw_data());
  // A graph keeps how its products multiply, too.
  addresses.push_back(reinterpret_cast<std::byte*>(static_cast<uintptr_t>(cuda::allow_tf32())));
  graphs_->launch(addresses, [&](const Tensor& arena) {
    bases.arena = arena;
    run_steps(bases);
  });
}

Tensor BoundPlan::run(std::span<const Tensor> inputs) const {
  Bases bases{inputs, {}, {}};
  if (result_.base == kResult) {
    bases.result = empty(result_.layout.shape, {result_.dtype, device_});
  }
  if (graphs_ != nullptr && !gpu_is_capturing(device_.index)) {
    run_graph(bases);
  } else {
    if (arena_bytes_ > 0) bases.arena = empty({arena_bytes_}, {DType::kBool, device_});
    run_steps(bases);
  }
  return bases.tensor(output_);
}

}  // namespace epi::compiler
