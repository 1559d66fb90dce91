// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/compile/library_call.h"
#include "epilogue/compile/run_kernels.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

constexpr int64_t kAlignment = 64;

Dims numbers(const SymDims& dims, std::span<const int64_t> symbols) {
  Dims result;
  for (const SymSize& size : dims) result.push_back(size.at(symbols));
  return result;
}

// A parameter as a node sees it: its sizes are numbers.
Tensor parameter_seen(const Tensor& parameter, const View& view) {
  const Layout layout{numbers(view.shape, {}), numbers(view.strides, {})};
  return {parameter.storage(), layout, parameter.offset() + view.offset.at({}), parameter.dtype()};
}

}  // namespace

Plan::Plan(Graph graph, const Target& target, UseCache cache)
    : graph_(std::move(graph)), kernels_(list_kernels(graph_)), result_(graph_.outputs[0]) {
  while (is_view(graph_[result_])) result_ = inputs_of(graph_[result_])[0];
  memory_ = plan_memory(graph_, kernels_, {result_});
  source_ = write_source(kernels_, target);
  generated_ = generate(source_, target, cache);
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const bool has_code = !std::holds_alternative<LibraryKernel>(kernels_[i].body);
    functions_.push_back(has_code ? generated_.code->find(source_.names[i]) : nullptr);
    PackedWeights packed;
    if (const auto* gemm = std::get_if<GemmKernel>(&kernels_[i].body)) {
      std::vector<Tensor> weights;
      for (size_t w = 0; w < gemm->weights.size(); ++w) {
        weights.push_back(
            parameter_seen(graph_[gemm->weights[w]].parameter, gemm->weight_views[w]));
      }
      packed.tile = choose_tile(gemm->code, target);
      packed.panels = pack_weights(gemm->code, packed.tile, weights);
    }
    weights_.push_back(std::move(packed));
  }
}

class Plan::Call {
 public:
  Call(const Plan& plan, std::span<const Tensor> inputs, std::span<const int64_t> symbols)
      : plan_(plan), symbols_(symbols), tensors_(plan.graph_.nodes.size()) {
    size_t next = 0;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const Node& node = plan.graph_.nodes[i];
      if (node.kind == NodeKind::kInput) tensors_[i] = inputs[next++];
      if (node.kind == NodeKind::kParameter) tensors_[i] = node.parameter;
    }
    place_values();
  }

  Tensor run() {
    for (size_t i = 0; i < plan_.kernels_.size(); ++i) {
      const Kernel& kernel = plan_.kernels_[i];
      if (const auto* library = std::get_if<LibraryKernel>(&kernel.body)) {
        call_library(
            plan_.graph_[library->node], [&](const ValueRef& ref) { return seen_tensor(ref); },
            symbols_, value(library->node));
      } else if (const auto* pointwise = std::get_if<PointwiseKernel>(&kernel.body)) {
        run_pointwise(i, *pointwise);
      } else {
        run_gemm(i, std::get<GemmKernel>(kernel.body));
      }
    }
    return seen_tensor({plan_.graph_.outputs[0], std::nullopt});
  }

 private:
  Tensor& value(ValueId id) { return tensors_[static_cast<size_t>(id)]; }

  // Allocates the result and the arena; every value between kernels gets its place.
  void place_values() {
    const Graph& graph = plan_.graph_;
    const Node& result = graph[plan_.result_];
    if (result.kind == NodeKind::kOp) {
      value(plan_.result_) = empty(numbers(result.shape, symbols_), {result.dtype, kCpu});
    }
    std::vector<int64_t> slot_bytes(static_cast<size_t>(plan_.memory_.slots), 0);
    for (const ArenaValue& one : plan_.memory_.values) {
      auto& bytes = slot_bytes[static_cast<size_t>(one.slot)];
      bytes = std::max(bytes, bytes_of(one));
    }
    int64_t total = 0;
    std::vector<int64_t> offsets;
    for (const int64_t bytes : slot_bytes) {
      offsets.push_back(total);
      total += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
    packed_.resize(plan_.kernels_.size());
    if (plan_.memory_.values.empty()) return;
    const auto arena = Storage::allocate(kCpu, total);
    for (const ArenaValue& one : plan_.memory_.values) {
      const int64_t offset = offsets[static_cast<size_t>(one.slot)];
      if (one.value < 0) {
        packed_[one.kernel] = arena->data() + offset;
        continue;
      }
      const Node& node = graph[one.value];
      const Dims shape = numbers(node.shape, symbols_);
      value(one.value) = {
          arena, {shape, contiguous_strides(shape)}, offset / size_bytes(node.dtype), node.dtype};
    }
  }

  int64_t bytes_of(const ArenaValue& one) {
    if (one.value >= 0) {
      const Node& node = plan_.graph_[one.value];
      return numel(node.shape).at(symbols_) * size_bytes(node.dtype);
    }
    const auto& gemm = std::get<GemmKernel>(plan_.kernels_[one.kernel].body);
    return packed_rows_bytes(gemm.code, plan_.weights_[one.kernel].tile, rows_of(gemm));
  }

  // Without the address.
  Rows rows_of(const GemmKernel& gemm) const {
    return {nullptr, gemm.rows.at(symbols_), gemm.x.strides[0].at(symbols_),
            gemm.x.strides[1].at(symbols_)};
  }

  // A value's tensor as a node sees it.
  Tensor seen_tensor(const ValueRef& ref) {
    const Node& node = plan_.graph_[ref.id];
    if (is_view(node) && !value(ref.id).defined()) {
      const Tensor base = seen_tensor(std::get<ValueRef>(node.operands[0]));
      const Layout layout{numbers(node.shape, symbols_), numbers(node.strides, symbols_)};
      value(ref.id) = {base.storage(), layout, base.offset() + node.offset.at(symbols_),
                       node.dtype};
    }
    const Tensor& whole = value(ref.id);
    if (!ref.view) return whole;
    const Layout layout{numbers(ref.view->shape, symbols_), numbers(ref.view->strides, symbols_)};
    return {whole.storage(), layout, whole.offset() + ref.view->offset.at(symbols_), whole.dtype()};
  }

  std::byte* address(const Access& access) {
    const Tensor whole = seen_tensor({access.value, std::nullopt});
    return whole.raw_data() + access.offset.at(symbols_) * size_bytes(whole.dtype());
  }

  std::vector<std::byte*> output_addresses(const Kernel& kernel) {
    std::vector<std::byte*> data;
    for (const ValueId id : kernel.outputs) data.push_back(value(id).raw_data());
    return data;
  }

  void run_pointwise(size_t i, const PointwiseKernel& kernel) {
    PointwiseCall call;
    call.function = reinterpret_cast<PointwiseFunction>(plan_.functions_[i]);
    call.code = &kernel.code;
    call.shape = numbers(kernel.shape, symbols_);
    if (epi::numel(call.shape) == 0) return;
    auto data = output_addresses(plan_.kernels_[i]);
    std::vector<Dims> strides(data.size(), contiguous_strides(call.shape));
    for (const Access& input : kernel.inputs) {
      data.push_back(address(input));
      strides.push_back(numbers(input.strides, symbols_));
    }
    call.data = data;
    call.strides = strides;
    compiler::run_pointwise(call, cost(i));
  }

  void run_gemm(size_t i, const GemmKernel& kernel) {
    GemmCall call;
    call.x = rows_of(kernel);
    if (call.x.count == 0) return;
    call.function = reinterpret_cast<GemmFunction>(plan_.functions_[i]);
    call.code = &kernel.code;
    call.tile = plan_.weights_[i].tile;
    call.x.data = address(kernel.x);
    call.packed_x = packed_[i];
    call.weights = plan_.weights_[i].panels.raw_data();
    auto others = output_addresses(plan_.kernels_[i]);
    for (const Access& operand : kernel.operands) others.push_back(address(operand));
    call.others = others;
    compiler::run_gemm(call, cost(i));
  }

  // Every value read once and written once; two operations an element of a product, one a step.
  KernelCost cost(size_t i) {
    const Kernel& kernel = plan_.kernels_[i];
    KernelCost cost{plan_.source_.names[i], 0, 0};
    for (const auto* ids : {&kernel.inputs, &kernel.outputs}) {
      for (const ValueId id : *ids) {
        const Node& node = plan_.graph_[id];
        cost.bytes += numel(node.shape).at(symbols_) * size_bytes(node.dtype);
      }
    }
    if (const auto* gemm = std::get_if<GemmKernel>(&kernel.body)) {
      const GemmCode& code = gemm->code;
      const auto steps = static_cast<int64_t>(code.program.steps.size());
      cost.flops = gemm->rows.at(symbols_) * code.n * (2 * code.k * code.products + steps);
    } else if (const auto* pointwise = std::get_if<PointwiseKernel>(&kernel.body)) {
      cost.flops = numel(pointwise->shape).at(symbols_) *
                   static_cast<int64_t>(pointwise->code.program.steps.size());
    }
    return cost;
  }

  const Plan& plan_;
  std::span<const int64_t> symbols_;
  std::vector<Tensor> tensors_;     // by value; views when first seen
  std::vector<std::byte*> packed_;  // by kernel
};

Tensor Plan::run(std::span<const Tensor> inputs, std::span<const int64_t> symbols) const {
  return Call(*this, inputs, symbols).run();
}

std::string Plan::to_string() const {
  std::string out;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    out += fmt::format("kernel {}: {}\n", i, source_.names[i]);
    for (const ArenaValue& one : memory_.values) {
      if (one.kernel != i) continue;
      if (one.value < 0) {
        out += fmt::format("  packs its rows in slot {}\n", one.slot);
      } else {
        out += fmt::format("  writes {}{} to slot {}, last read by kernel {}\n",
                           name(graph_[one.value].dtype),
                           compiler::to_string(graph_[one.value].shape), one.slot, one.last);
      }
    }
    if (const auto* gemm = std::get_if<GemmKernel>(&kernels_[i].body)) {
      const GemmTile& tile = weights_[i].tile;
      out +=
          fmt::format("  weights packed: {} panels of {} columns, {} bytes; {} rows at a time{}\n",
                      panels_of(gemm->code, tile), tile.columns * gemm->code.products,
                      weights_[i].panels.size_bytes(), tile.rows,
                      tile.kind == GemmKind::kTiles ? ", by AMX tiles" : "");
    }
  }
  return out + fmt::format("arena: {} slots\n", memory_.slots);
}

}  // namespace epi::compiler
