// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/binder.h"

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/compiler/passes/fusible.h"
#include "epilogue/cpu/strided_walk.h"

namespace epi::compiler {
namespace {

constexpr int64_t kAlignment = 256;  // what cuBLASLt asks about; a cache line on the CPU

Dims numbers(const SymDims& dims, std::span<const int64_t> symbols) {
  Dims result;
  for (const SymSize& size : dims) result.push_back(size.at(symbols));
  return result;
}

}  // namespace

// Inputs and parameters are where they are; results, for now, where the caller gets them.
void Binder::place_given() {
  int next_input = 0;
  for (const Node& node : compiled_.graph.nodes) {
    Place place;
    place.layout = {numbers(node.shape, symbols()), numbers(node.strides, symbols())};
    place.dtype = node.dtype;
    place.parameter = node.parameter;
    place.base = node.kind == NodeKind::kInput       ? next_input++
                 : node.kind == NodeKind::kParameter ? kParameter
                                                     : kResult;
    values_.push_back(std::move(place));
  }
}

int64_t Binder::bytes_of(const ArenaValue& value) const {
  if (value.value >= 0) {
    const Node& node = compiled_.graph[value.value];
    return numel(node.shape).at(symbols()) * size_bytes(node.dtype);
  }
  const auto& gemm = std::get<GemmKernel>(compiled_.kernels[value.kernel].body);
  return packed_rows_bytes(gemm.code, compiled_.weights[value.kernel].tile, rows_of(gemm));
}

// Where slots begin, each as large as the largest that it holds.
std::vector<int64_t> Binder::lay_out_slots() {
  std::vector<int64_t> slot_bytes(static_cast<size_t>(compiled_.memory.slots), 0);
  for (const ArenaValue& value : compiled_.memory.values) {
    auto& bytes = slot_bytes[static_cast<size_t>(value.slot)];
    bytes = std::max(bytes, bytes_of(value));
  }
  std::vector<int64_t> offsets;
  for (const int64_t bytes : slot_bytes) {
    offsets.push_back(plan_.arena_bytes_);
    plan_.arena_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  // Values without elements have a place, too.
  if (!offsets.empty()) plan_.arena_bytes_ = std::max(plan_.arena_bytes_, kAlignment);
  return offsets;
}

void Binder::place_arena() {
  const auto offsets = lay_out_slots();
  packed_offsets_.resize(compiled_.kernels.size());
  for (const ArenaValue& value : compiled_.memory.values) {
    const int64_t offset = offsets[static_cast<size_t>(value.slot)];
    if (value.value < 0) {
      packed_offsets_[value.kernel] = offset;
      continue;
    }
    Place& place = values_[static_cast<size_t>(value.value)];
    place.base = kArena;
    place.offset = offset / size_bytes(place.dtype);
  }
}

Place Binder::place_of(const ValueRef& ref) const {
  const Node& node = compiled_.graph[ref.id];
  Place place = values_[static_cast<size_t>(ref.id)];
  if (is_view(node)) {
    const Layout layout = place.layout;
    place = place_of(std::get<ValueRef>(node.operands[0]));
    place.layout = layout;
    place.offset += node.offset.at(symbols());
  }
  if (ref.view) {
    place.layout = {numbers(ref.view->shape, symbols()), numbers(ref.view->strides, symbols())};
    place.offset += ref.view->offset.at(symbols());
  }
  return place;
}

Place Binder::place_of(const Access& access) const {
  Place place = place_of(ValueRef{access.value, std::nullopt});
  place.offset += access.offset.at(symbols());
  return place;
}

Rows Binder::rows_of(const GemmKernel& gemm) const {
  return {nullptr, gemm.rows.at(symbols()), gemm.x.strides[0].at(symbols()),
          gemm.x.strides[1].at(symbols())};
}

// Every value read once and written once; two operations an element of a product, one a step.
KernelCost Binder::cost_of(size_t kernel) const {
  const Kernel& described = compiled_.kernels[kernel];
  KernelCost cost{compiled_.source.names[kernel], 0, 0};
  for (const auto* ids : {&described.inputs, &described.outputs}) {
    for (const ValueId id : *ids) {
      const Node& node = compiled_.graph[id];
      cost.bytes += numel(node.shape).at(symbols()) * size_bytes(node.dtype);
    }
  }
  if (const auto* gemm = std::get_if<GemmKernel>(&described.body)) {
    const GemmCode& code = gemm->code;
    const auto steps = static_cast<int64_t>(code.program.steps.size());
    cost.flops = gemm->rows.at(symbols()) * code.n * (2 * code.k * code.products + steps);
  } else if (const auto* pointwise = std::get_if<PointwiseKernel>(&described.body)) {
    cost.flops = numel(pointwise->shape).at(symbols()) *
                 static_cast<int64_t>(pointwise->code.program.steps.size());
  }
  return cost;
}

BoundStep Binder::bind(size_t kernel) const {
  const auto& body = compiled_.kernels[kernel].body;
  const KernelCost cost = cost_of(kernel);
  if (const auto* library = std::get_if<LibraryKernel>(&body)) {
    return {bind_library(library->node), cost};
  }
  if (std::holds_alternative<GemmKernel>(body)) {
    if (is_better_in_library(kernel)) {
      const ValueId product = compiled_.kernels[kernel].outputs[0];
      KernelCost plain = cost;
      plain.name = op_info(compiled_.graph[product].op).name;
      return {bind_library(product), plain};
    }
    return {bind_gemm(kernel), cost};
  }
  return {bind_pointwise(kernel), cost};
}

// On a GPU: a product without an epilogue.
bool Binder::is_better_in_library(size_t kernel) const {
  const auto& gemm = std::get<GemmKernel>(compiled_.kernels[kernel].body);
  return compiled_.device != kCpu && !has_epilogue(gemm) &&
         !compiled_.gpu_gemms[kernel]->is_fast_for(gemm.rows.at(symbols()));
}

PointwiseStep Binder::bind_pointwise(size_t kernel) const {
  const auto& described = std::get<PointwiseKernel>(compiled_.kernels[kernel].body);
  PointwiseStep step;
  if (compiled_.device == kCpu) {
    step.call.function = reinterpret_cast<PointwiseFunction>(compiled_.functions[kernel]);
  }
  step.call.code = &described.code;
  step.call.shape = numbers(described.shape, symbols());
  for (const ValueId id : compiled_.kernels[kernel].outputs) {
    step.operands.push_back(place_of(ValueRef{id, std::nullopt}));
    step.strides.push_back(contiguous_strides(step.call.shape));
  }
  for (const Access& input : described.inputs) {
    step.operands.push_back(place_of(input));
    step.strides.push_back(numbers(input.strides, symbols()));
  }
  if (compiled_.device != kCpu) {
    step.gpu = GpuPointwise(compiled_.gpu_functions[kernel], described.code, step.call.shape,
                            step.strides);
  }
  return step;
}

GemmStep Binder::bind_gemm(size_t kernel) const {
  const auto& described = std::get<GemmKernel>(compiled_.kernels[kernel].body);
  GemmStep step;
  if (compiled_.device != kCpu) {
    step.call.x = rows_of(described);
    if (step.call.x.count > 0) {
      step.gpu = compiled_.gpu_gemms[kernel]->bind(step.call.x.count, step.call.x.row_stride);
    }
    step.x = place_of(described.x);
    bind_others(kernel, step);
    return step;
  }
  step.call.function = reinterpret_cast<GemmFunction>(compiled_.functions[kernel]);
  step.call.code = &described.code;
  step.call.tile = compiled_.weights[kernel].tile;
  step.call.x = rows_of(described);
  step.call.weights = compiled_.weights[kernel].panels.raw_data();
  step.x = place_of(described.x);
  step.packed_offset = packed_offsets_[kernel];
  bind_others(kernel, step);
  return step;
}

void Binder::bind_others(size_t kernel, GemmStep& step) const {
  for (const ValueId id : compiled_.kernels[kernel].outputs) {
    step.others.push_back(place_of(ValueRef{id, std::nullopt}));
  }
  for (const Access& operand : std::get<GemmKernel>(compiled_.kernels[kernel].body).operands) {
    step.others.push_back(place_of(operand));
  }
  EPI_CHECK(step.others.size() <= cpu::kMostFusedOperands);
}

LibraryStep Binder::bind_library(ValueId id) const {
  LibraryStep step;
  step.node = &compiled_.graph[id];
  for (const ValueRef& ref : references_of(*step.node)) {
    step.operands.push_back(place_of(ref));
  }
  step.out = place_of(ValueRef{id, std::nullopt});
  if (compiled_.device != kCpu) {
    std::vector<Layout> layouts;
    for (const Place& place : step.operands) layouts.push_back(place.layout);
    step.gpu = GpuProduct::plan(*step.node, layouts, step.out.layout);
  }
  return step;
}

}  // namespace epi::compiler
