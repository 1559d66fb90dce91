// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/bound_plan.h"

#include <algorithm>
#include <array>

#include "epilogue/compile/binder.h"
#include "epilogue/compile/library_call.h"
#include "epilogue/cpu/strided_walk.h"
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
    : symbols_(symbols.begin(), symbols.end()) {
  Binder(compiled, *this).bind();
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
    size_t next = 0;
    const auto tensor_of = [&](const ValueRef&) { return bases.tensor(library->operands[next++]); };
    call_library(*library->node, tensor_of, symbols_, bases.tensor(library->out));
  } else if (const auto* pointwise = std::get_if<PointwiseStep>(&step.what)) {
    PointwiseCall call = pointwise->call;
    if (numel(call.shape) == 0) return;
    call.data = find(pointwise->operands);
    call.strides = pointwise->strides;
    run_pointwise(call, step.cost);
  } else {
    const auto& gemm = std::get<GemmStep>(step.what);
    GemmCall call = gemm.call;
    if (call.x.count == 0) return;
    call.x.data = bases.address(gemm.x);
    call.packed_x = bases.arena.raw_data() + gemm.packed_offset;
    call.others = find(gemm.others);
    run_gemm(call, step.cost);
  }
}

Tensor BoundPlan::run(std::span<const Tensor> inputs) const {
  Bases bases{inputs, {}, {}};
  if (arena_bytes_ > 0) bases.arena = empty({arena_bytes_}, {DType::kBool, kCpu});
  if (result_.base == kResult) {
    bases.result = empty(result_.layout.shape, {result_.dtype, kCpu});
  }
  for (const BoundStep& step : steps_) run_step(step, bases);
  return bases.tensor(output_);
}

}  // namespace epi::compiler
