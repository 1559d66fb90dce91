// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/bound_plan.h"

#include <algorithm>
#include <array>

#include "epilogue/base/error.h"
#include "epilogue/compile/library_call.h"
#include "epilogue/cpu/strided_walk.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

constexpr int kArena = -1;
constexpr int kResult = -2;
constexpr int kParameter = -3;
constexpr int64_t kAlignment = 64;
constexpr size_t kMostAddresses = cpu::kMostFusedOperands + 2;

Dims numbers(const SymDims& dims, std::span<const int64_t> symbols) {
  Dims result;
  for (const SymSize& size : dims) result.push_back(size.at(symbols));
  return result;
}

}  // namespace

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
  place_values(compiled);
  for (size_t i = 0; i < compiled.kernels.size(); ++i) steps_.push_back(bind(compiled, i));
  result_ = values_[static_cast<size_t>(compiled.result)];
  output_ = place_of(compiled, ValueRef{compiled.graph.outputs[0], std::nullopt});
}

bool BoundPlan::is_for(std::span<const int64_t> symbols) const {
  return std::equal(symbols.begin(), symbols.end(), symbols_.begin(), symbols_.end());
}

void BoundPlan::place_values(const CompiledGraph& compiled) {
  const Graph& graph = compiled.graph;
  values_.resize(graph.nodes.size());
  int next_input = 0;
  for (size_t i = 0; i < values_.size(); ++i) {
    const Node& node = graph.nodes[i];
    values_[i].layout = {numbers(node.shape, symbols_), numbers(node.strides, symbols_)};
    values_[i].dtype = node.dtype;
    values_[i].parameter = node.parameter;
    if (node.kind == NodeKind::kInput) values_[i].base = next_input++;
    if (node.kind == NodeKind::kParameter) values_[i].base = kParameter;
    if (node.kind == NodeKind::kOp) values_[i].base = kResult;  // or the arena, below
  }
  const auto bytes_of = [&](const ArenaValue& one) {
    if (one.value >= 0) {
      const Node& node = graph[one.value];
      return numel(node.shape).at(symbols_) * size_bytes(node.dtype);
    }
    const auto& gemm = std::get<GemmKernel>(compiled.kernels[one.kernel].body);
    return packed_rows_bytes(gemm.code, compiled.weights[one.kernel].tile, rows_of(gemm));
  };
  std::vector<int64_t> slot_bytes(static_cast<size_t>(compiled.memory.slots), 0);
  for (const ArenaValue& one : compiled.memory.values) {
    auto& bytes = slot_bytes[static_cast<size_t>(one.slot)];
    bytes = std::max(bytes, bytes_of(one));
  }
  std::vector<int64_t> slot_offsets;
  for (const int64_t bytes : slot_bytes) {
    slot_offsets.push_back(arena_bytes_);
    arena_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  // Values without elements have a place, too.
  if (!compiled.memory.values.empty()) arena_bytes_ = std::max(arena_bytes_, kAlignment);
  packed_offsets_.resize(compiled.kernels.size());
  for (const ArenaValue& one : compiled.memory.values) {
    const int64_t offset = slot_offsets[static_cast<size_t>(one.slot)];
    if (one.value < 0) {
      packed_offsets_[one.kernel] = offset;
      continue;
    }
    Place& place = values_[static_cast<size_t>(one.value)];
    place.base = kArena;
    place.offset = offset / size_bytes(place.dtype);
  }
}

Place BoundPlan::place_of(const CompiledGraph& compiled, const ValueRef& ref) const {
  const Node& node = compiled.graph[ref.id];
  Place place = values_[static_cast<size_t>(ref.id)];
  if (is_view(node)) {
    const Layout layout = place.layout;
    place = place_of(compiled, std::get<ValueRef>(node.operands[0]));
    place.layout = layout;
    place.offset += node.offset.at(symbols_);
  }
  if (ref.view) {
    place.layout = {numbers(ref.view->shape, symbols_), numbers(ref.view->strides, symbols_)};
    place.offset += ref.view->offset.at(symbols_);
  }
  return place;
}

Place BoundPlan::place_of(const CompiledGraph& compiled, const Access& access) const {
  Place place = place_of(compiled, ValueRef{access.value, std::nullopt});
  place.offset += access.offset.at(symbols_);
  return place;
}

Rows BoundPlan::rows_of(const GemmKernel& gemm) const {
  return {nullptr, gemm.rows.at(symbols_), gemm.x.strides[0].at(symbols_),
          gemm.x.strides[1].at(symbols_)};
}

// Every value read once and written once; two operations an element of a product, one a step.
KernelCost BoundPlan::cost_of(const CompiledGraph& compiled, size_t kernel) const {
  const Kernel& described = compiled.kernels[kernel];
  KernelCost cost{compiled.source.names[kernel], 0, 0};
  for (const auto* ids : {&described.inputs, &described.outputs}) {
    for (const ValueId id : *ids) {
      const Node& node = compiled.graph[id];
      cost.bytes += numel(node.shape).at(symbols_) * size_bytes(node.dtype);
    }
  }
  if (const auto* gemm = std::get_if<GemmKernel>(&described.body)) {
    const GemmCode& code = gemm->code;
    const auto steps = static_cast<int64_t>(code.program.steps.size());
    cost.flops = gemm->rows.at(symbols_) * code.n * (2 * code.k * code.products + steps);
  } else if (const auto* pointwise = std::get_if<PointwiseKernel>(&described.body)) {
    cost.flops = numel(pointwise->shape).at(symbols_) *
                 static_cast<int64_t>(pointwise->code.program.steps.size());
  }
  return cost;
}

BoundStep BoundPlan::bind(const CompiledGraph& compiled, size_t kernel) const {
  const auto& body = compiled.kernels[kernel].body;
  const KernelCost cost = cost_of(compiled, kernel);
  if (std::holds_alternative<LibraryKernel>(body)) return {bind_library(compiled, kernel), cost};
  if (std::holds_alternative<GemmKernel>(body)) return {bind_gemm(compiled, kernel), cost};
  return {bind_pointwise(compiled, kernel), cost};
}

PointwiseStep BoundPlan::bind_pointwise(const CompiledGraph& compiled, size_t kernel) const {
  const auto& described = std::get<PointwiseKernel>(compiled.kernels[kernel].body);
  PointwiseStep step;
  step.call.function = reinterpret_cast<PointwiseFunction>(compiled.functions[kernel]);
  step.call.code = &described.code;
  step.call.shape = numbers(described.shape, symbols_);
  for (const ValueId id : compiled.kernels[kernel].outputs) {
    step.operands.push_back(place_of(compiled, ValueRef{id, std::nullopt}));
    step.strides.push_back(contiguous_strides(step.call.shape));
  }
  for (const Access& input : described.inputs) {
    step.operands.push_back(place_of(compiled, input));
    step.strides.push_back(numbers(input.strides, symbols_));
  }
  return step;
}

GemmStep BoundPlan::bind_gemm(const CompiledGraph& compiled, size_t kernel) const {
  const auto& described = std::get<GemmKernel>(compiled.kernels[kernel].body);
  GemmStep step;
  step.call.function = reinterpret_cast<GemmFunction>(compiled.functions[kernel]);
  step.call.code = &described.code;
  step.call.tile = compiled.weights[kernel].tile;
  step.call.x = rows_of(described);
  step.call.weights = compiled.weights[kernel].panels.raw_data();
  step.x = place_of(compiled, described.x);
  step.packed_offset = packed_offsets_[kernel];
  for (const ValueId id : compiled.kernels[kernel].outputs) {
    step.others.push_back(place_of(compiled, ValueRef{id, std::nullopt}));
  }
  for (const Access& operand : described.operands) {
    step.others.push_back(place_of(compiled, operand));
  }
  return step;
}

LibraryStep BoundPlan::bind_library(const CompiledGraph& compiled, size_t kernel) const {
  const ValueId id = std::get<LibraryKernel>(compiled.kernels[kernel].body).node;
  LibraryStep step;
  step.node = &compiled.graph[id];
  for (const ValueRef& ref : references_of(*step.node)) {
    step.operands.push_back(place_of(compiled, ref));
  }
  step.out = place_of(compiled, ValueRef{id, std::nullopt});
  return step;
}

Tensor BoundPlan::run(std::span<const Tensor> inputs) const {
  Bases bases{inputs, {}, {}};
  if (arena_bytes_ > 0) bases.arena = empty({arena_bytes_}, {DType::kBool, kCpu});
  if (result_.base == kResult) {
    bases.result = empty(result_.layout.shape, {result_.dtype, kCpu});
  }
  std::array<std::byte*, kMostAddresses> addresses;
  const auto find = [&](const std::vector<Place>& places) {
    std::transform(places.begin(), places.end(), addresses.begin(),
                   [&](const Place& place) { return bases.address(place); });
    return std::span<std::byte* const>(addresses).first(places.size());
  };
  for (const BoundStep& step : steps_) {
    if (const auto* library = std::get_if<LibraryStep>(&step.what)) {
      size_t next = 0;
      const auto tensor_of = [&](const ValueRef&) {
        return bases.tensor(library->operands[next++]);
      };
      call_library(*library->node, tensor_of, symbols_, bases.tensor(library->out));
    } else if (const auto* pointwise = std::get_if<PointwiseStep>(&step.what)) {
      PointwiseCall call = pointwise->call;
      if (numel(call.shape) == 0) continue;
      call.data = find(pointwise->operands);
      call.strides = pointwise->strides;
      run_pointwise(call, step.cost);
    } else {
      const auto& gemm = std::get<GemmStep>(step.what);
      GemmCall call = gemm.call;
      if (call.x.count == 0) continue;
      call.x.data = bases.address(gemm.x);
      if (arena_bytes_ > 0) call.packed_x = bases.arena.raw_data() + gemm.packed_offset;
      call.others = find(gemm.others);
      run_gemm(call, step.cost);
    }
  }
  return bases.tensor(output_);
}

}  // namespace epi::compiler
