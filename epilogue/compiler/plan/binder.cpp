// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/binder.h"

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/compiler/graph/fusible.h"
#include "epilogue/cpu/strided_walk.h"

namespace epi::compiler {
namespace {

constexpr int64_t kAlignment = 256;  // the alignment that cuBLASLt checks; more than a cache line

Dims numbers(const SymDims& dims, std::span<const int64_t> symbols) {
  Dims result;
  for (const SymSize& size : dims) result.push_back(size.at(symbols));
  return result;
}

class Binder {
 public:
  Binder(const CompiledGraph& compiled, BoundPlan& plan) : compiled_(compiled), plan_(plan) {}

  void bind() {
    place_inputs();
    place_arena();
    for (size_t i = 0; i < compiled_.kernels.size(); ++i) {
      if (joins_next(i)) {
        plan_.steps.push_back(compiled_.backend->bind_joined(bind_gemm(i), bind_gemm(i + 1)));
        ++i;
      } else {
        plan_.steps.push_back(bind(i));
      }
    }
    for (const ValueId result : compiled_.results) {
      plan_.results.push_back(values_[static_cast<size_t>(result)]);
    }
    for (const ValueId output : compiled_.graph.outputs) {
      plan_.outputs.push_back(place_of(ValueRef{output, std::nullopt}));
    }
  }

 private:
  std::span<const int64_t> symbols() const { return plan_.symbols; }

  void place_inputs();
  int64_t bytes_of(const ArenaValue& value) const;
  std::vector<int64_t> lay_out_slots();
  void place_arena();
  Place place_of(const ValueRef& ref) const;
  Place place_of(const Access& access) const;
  Rows rows_of(const GemmKernel& gemm) const;
  KernelCost cost_of(size_t kernel) const;
  StepPtr bind(size_t kernel) const;
  bool joins_next(size_t kernel) const;
  bool next_overwrites_inputs(size_t kernel) const;
  PointwiseBinding bind_pointwise(size_t kernel) const;
  GemmBinding bind_gemm(size_t kernel) const;
  LibraryBinding bind_library(ValueId id) const;

  const CompiledGraph& compiled_;
  BoundPlan& plan_;
  std::vector<Place> values_;            // by ValueId; views are not resolved
  std::vector<int64_t> packed_offsets_;  // by kernel
};

// Inputs, parameters and results have fixed locations. All other values are in the arena, at
// offsets that place_arena sets.
void Binder::place_inputs() {
  int next_input = 0;
  for (const Node& node : compiled_.graph.nodes) {
    Place place;
    place.layout = {numbers(node.shape, symbols()), numbers(node.strides, symbols())};
    place.dtype = node.dtype;
    place.parameter = node.parameter;
    place.base = node.kind == NodeKind::kInput       ? next_input++
                 : node.kind == NodeKind::kParameter ? kParameter
                                                     : kArena;
    values_.push_back(std::move(place));
  }
  for (size_t i = 0; i < compiled_.results.size(); ++i) {
    values_[static_cast<size_t>(compiled_.results[i])].base = kFirstResult - static_cast<int>(i);
  }
}

int64_t Binder::bytes_of(const ArenaValue& value) const {
  if (value.value >= 0) {
    const Node& node = compiled_.graph[value.value];
    return numel(node.shape).at(symbols()) * size_bytes(node.dtype);
  }
  const auto& gemm = std::get<GemmKernel>(compiled_.kernels[value.kernel].body);
  return compiled_.backend->packed_bytes(value.kernel, rows_of(gemm));
}

// The offsets of the slots. Each slot is as large as its largest value.
std::vector<int64_t> Binder::lay_out_slots() {
  std::vector<int64_t> slot_bytes(static_cast<size_t>(compiled_.memory.slots), 0);
  for (const ArenaValue& value : compiled_.memory.values) {
    auto& bytes = slot_bytes[static_cast<size_t>(value.slot)];
    bytes = std::max(bytes, bytes_of(value));
  }
  std::vector<int64_t> offsets;
  for (const int64_t bytes : slot_bytes) {
    offsets.push_back(plan_.arena_bytes);
    plan_.arena_bytes += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  // Empty values need an address, too.
  if (!offsets.empty()) plan_.arena_bytes = std::max(plan_.arena_bytes, kAlignment);
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
  } else if (node.in_place) {  // in the memory of the tensor that it writes into
    const ValueId target = std::get<ValueRef>(node.operands[0]).id;
    place = place_of(ValueRef{root_of(compiled_.graph, target), std::nullopt});
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

// Counts every value read and written once, two FLOPs per multiply-add of a GEMM, and one per step
// and element.
KernelCost Binder::cost_of(size_t kernel) const {
  const Kernel& info = compiled_.kernels[kernel];
  KernelCost cost{compiled_.backend->names()[kernel], 0, 0};
  for (const auto* ids : {&info.inputs, &info.outputs}) {
    for (const ValueId id : *ids) {
      const Node& node = compiled_.graph[id];
      cost.bytes += numel(node.shape).at(symbols()) * size_bytes(node.dtype);
    }
  }
  if (const auto* gemm = std::get_if<GemmKernel>(&info.body)) {
    const GemmCode& code = gemm->code;
    const auto steps = static_cast<int64_t>(code.program.steps.size());
    cost.flops = gemm->rows.at(symbols()) * code.n * (2 * code.k * code.gemms + steps);
  } else if (const auto* pointwise = std::get_if<PointwiseKernel>(&info.body)) {
    cost.flops = numel(pointwise->shape).at(symbols()) *
                 static_cast<int64_t>(pointwise->code.program.steps.size());
  }
  return cost;
}

StepPtr Binder::bind(size_t kernel) const {
  const auto& body = compiled_.kernels[kernel].body;
  if (const auto* library = std::get_if<LibraryKernel>(&body)) {
    return compiled_.backend->bind(bind_library(library->node));
  }
  const auto* gemm = std::get_if<GemmKernel>(&body);
  if (gemm == nullptr) return compiled_.backend->bind(bind_pointwise(kernel));
  if (compiled_.backend->prefers_library(kernel, gemm->rows.at(symbols()))) {
    return compiled_.backend->bind(bind_library(compiled_.kernels[kernel].outputs[0]));
  }
  return compiled_.backend->bind(bind_gemm(kernel));
}

bool Binder::joins_next(size_t kernel) const {
  const auto* gemm = std::get_if<GemmKernel>(&compiled_.kernels[kernel].body);
  return gemm != nullptr && compiled_.backend->joins_next(kernel, gemm->rows.at(symbols())) &&
         !next_overwrites_inputs(kernel);
}

// Whether the next kernel writes to a slot that this one reads last.
bool Binder::next_overwrites_inputs(size_t kernel) const {
  const auto& values = compiled_.memory.values;
  return std::any_of(values.begin(), values.end(), [&](const ArenaValue& read) {
    return read.last == kernel &&
           std::any_of(values.begin(), values.end(), [&](const ArenaValue& written) {
             return written.kernel == kernel + 1 && written.slot == read.slot;
           });
  });
}

PointwiseBinding Binder::bind_pointwise(size_t kernel) const {
  const auto& info = std::get<PointwiseKernel>(compiled_.kernels[kernel].body);
  PointwiseBinding binding{kernel, cost_of(kernel), numbers(info.shape, symbols()), {}, {}};
  for (const ValueId id : compiled_.kernels[kernel].outputs) {
    binding.operands.push_back(place_of(ValueRef{id, std::nullopt}));
    binding.strides.push_back(contiguous_strides(binding.shape));
  }
  for (const Access& input : info.inputs) {
    binding.operands.push_back(place_of(input));
    binding.strides.push_back(numbers(input.strides, symbols()));
  }
  return binding;
}

GemmBinding Binder::bind_gemm(size_t kernel) const {
  const auto& info = std::get<GemmKernel>(compiled_.kernels[kernel].body);
  GemmBinding binding;
  binding.kernel = kernel;
  binding.cost = cost_of(kernel);
  binding.rows = rows_of(info);
  binding.x = place_of(info.x);
  binding.packed_offset = packed_offsets_[kernel];
  for (const ValueId id : compiled_.kernels[kernel].outputs) {
    binding.others.push_back(place_of(ValueRef{id, std::nullopt}));
  }
  for (const Access& operand : info.operands) binding.others.push_back(place_of(operand));
  EPI_CHECK(binding.others.size() <= cpu::kMaxFusedOperands);
  return binding;
}

LibraryBinding Binder::bind_library(ValueId id) const {
  LibraryBinding binding;
  const Node& node = compiled_.graph[id];
  binding.node = &node;
  if (node.in_place) {
    binding.operands.push_back(place_of(std::get<ValueRef>(node.operands[1])));
    binding.out = place_of(std::get<ValueRef>(node.operands[0]));
  } else {
    for (const ValueRef& ref : references_of(node)) binding.operands.push_back(place_of(ref));
    binding.out = place_of(ValueRef{id, std::nullopt});
  }
  binding.symbols.assign(symbols().begin(), symbols().end());
  return binding;
}

}  // namespace

std::shared_ptr<const BoundPlan> bind_plan(const CompiledGraph& compiled,
                                           std::span<const int64_t> symbols) {
  auto plan = std::make_shared<BoundPlan>();
  plan->symbols.assign(symbols.begin(), symbols.end());
  plan->device = compiled.device;
  Binder(compiled, *plan).bind();
  if (compiled.graph_replay) plan->graphs = compiled.backend->make_graphs(plan->arena_bytes);
  return plan;
}

}  // namespace epi::compiler
