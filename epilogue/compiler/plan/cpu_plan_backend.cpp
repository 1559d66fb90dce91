// SPDX-License-Identifier: Apache-2.0
// The CPU backend of a plan: one LLVM module for all kernels, and the weights packed for it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "epilogue/compiler/codegen/gemm_emitter.h"
#include "epilogue/compiler/plan/generate.h"
#include "epilogue/compiler/plan/library_step.h"
#include "epilogue/compiler/plan/run_kernels.h"
#include "epilogue/cpu/strided_walk.h"

namespace epi::compiler {
namespace {

// The addresses of places, on the stack of the call.
class Addresses {
 public:
  Addresses(const CallTensors& tensors, const std::vector<Place>& places) : count_(places.size()) {
    std::transform(places.begin(), places.end(), addresses_.begin(),
                   [&](const Place& place) { return tensors.address(place); });
  }
  std::span<std::byte* const> all() const { return std::span(addresses_).first(count_); }

 private:
  std::array<std::byte*, cpu::kMaxFusedOperands> addresses_;
  size_t count_;
};

class CpuPointwiseStep : public BoundStep {
 public:
  CpuPointwiseStep(PointwiseFunction function, const PointwiseCode& code, PointwiseBinding binding)
      : binding_(std::move(binding)) {
    call_.function = function;
    call_.code = &code;
    call_.shape = binding_.shape;
  }
  void run(const CallTensors& tensors) const override {
    if (numel(call_.shape) == 0) return;
    const Addresses addresses(tensors, binding_.operands);
    PointwiseCall call = call_;
    call.data = addresses.all();
    call.strides = binding_.strides;
    run_pointwise(call, binding_.cost);
  }

 private:
  PointwiseBinding binding_;
  PointwiseCall call_;  // without addresses
};

class CpuGemmStep : public BoundStep {
 public:
  CpuGemmStep(GemmCall call, GemmBinding binding) : call_(call), binding_(std::move(binding)) {
    call_.x = binding_.rows;
  }
  void run(const CallTensors& tensors) const override {
    if (call_.x.count == 0) return;
    const Addresses addresses(tensors, binding_.others);
    GemmCall call = call_;
    call.x.data = tensors.address(binding_.x);
    if (tensors.arena != nullptr) {
      call.packed_x = tensors.arena->raw_data() + binding_.packed_offset;
    }
    call.others = addresses.all();
    run_gemm(call, binding_.cost);
  }

 private:
  GemmCall call_;  // without addresses
  GemmBinding binding_;
};

// A parameter in the layout in which a node reads it, which is static.
Tensor parameter_view(const Tensor& parameter, const View& view) {
  Layout layout;
  for (const SymSize& size : view.shape) layout.shape.push_back(size.number());
  for (const SymSize& stride : view.strides) layout.strides.push_back(stride.number());
  return {parameter.storage(), layout, parameter.offset() + view.offset.number(),
          parameter.dtype()};
}

const char* instructions_of(GemmKind kind) {
  switch (kind) {
    case GemmKind::kTiles:
    case GemmKind::kInt8Tiles:
      return ", with AMX tiles";
    case GemmKind::kPairs:
      return ", with bf16 pairs";
    case GemmKind::kMmla:
      return ", with bfmmla";
    case GemmKind::kFmlal:
      return ", with fmlal";
    case GemmKind::kSmmla:
      return ", with smmla";
    case GemmKind::kDots:
      return ", with int8 dot products";
    case GemmKind::kVnni:
      return ", with vpdpbusd";
    case GemmKind::kVectors:
    case GemmKind::kHalves:
      break;
  }
  return "";
}

class CpuPlanBackend : public PlanBackend {
 public:
  CpuPlanBackend(const Graph& graph, const std::vector<Kernel>& kernels, UseCache cache)
      : kernels_(kernels) {
    const Target& target = host_target();
    source_ = write_source(kernels, target);
    generated_ = generate(source_, target, cache);
    for (size_t i = 0; i < kernels.size(); ++i) {
      const bool has_code = !std::holds_alternative<LibraryKernel>(kernels[i].body);
      functions_.push_back(has_code ? generated_.code->find(source_.names[i]) : nullptr);
      weights_.push_back(pack(graph, kernels[i], target));
    }
  }

  const std::vector<std::string>& names() const override { return source_.names; }
  const std::string& code() const override { return source_.ir; }
  const std::vector<std::string>& kernel_code() const override { return source_.texts; }
  bool is_from_cache() const override { return generated_.from_cache; }
  std::string cache_error() const override { return generated_.cache_error; }

  KernelText describe(size_t kernel) const override {
    const auto* gemm = std::get_if<GemmKernel>(&kernels_[kernel].body);
    if (gemm == nullptr) return {};
    const auto& [tile, panels] = weights_[kernel];
    KernelText text;
    text.weights =
        fmt::format("  weights packed: {} panels of {} columns, {} bytes; {} rows at a time{}\n",
                    panels_of(gemm->code, tile), tile.columns * gemm->code.gemms,
                    panels->size_bytes(), tile.rows, instructions_of(tile.kind));
    return text;
  }

  std::vector<TakenParameter> taken() const override { return taken_; }
  PackRows packs_rows() const override { return PackRows::kYes; }
  int64_t packed_bytes(size_t kernel, const Rows& rows) const override {
    return packed_rows_bytes(gemm_code(kernel), weights_[kernel].tile, rows);
  }
  bool prefers_library(size_t /*kernel*/, int64_t /*rows*/) const override { return false; }
  bool is_fast_for(std::span<const int64_t> /*symbols*/) const override { return true; }

  StepPtr bind(PointwiseBinding binding) const override {
    const auto& info = std::get<PointwiseKernel>(kernels_[binding.kernel].body);
    const auto function = reinterpret_cast<PointwiseFunction>(functions_[binding.kernel]);
    return std::make_unique<CpuPointwiseStep>(function, info.code, std::move(binding));
  }
  StepPtr bind(GemmBinding binding) const override {
    GemmCall call;
    call.function = functions_[binding.kernel];
    call.code = &gemm_code(binding.kernel);
    call.tile = weights_[binding.kernel].tile;
    call.weights = weights_[binding.kernel].panels->raw_data();
    return std::make_unique<CpuGemmStep>(call, std::move(binding));
  }
  StepPtr bind(LibraryBinding binding) const override {
    return std::make_unique<LibraryStep>(std::move(binding));
  }

  std::unique_ptr<GpuGraphs> make_graphs(int64_t /*arena_bytes*/) const override { return nullptr; }
  void wait() const override {}

 private:
  struct Packed {
    GemmTile tile;
    std::shared_ptr<const Tensor> panels;
  };
  Packed pack(const Graph& graph, const Kernel& kernel, const Target& target) {
    const auto* gemm = std::get_if<GemmKernel>(&kernel.body);
    if (gemm == nullptr) return {};
    std::vector<Tensor> weights;
    for (size_t i = 0; i < gemm->weights.size(); ++i) {
      const Node& node = graph[gemm->weights[i]];
      taken_.emplace_back(node.name, node.parameter);
      weights.push_back(parameter_view(node.parameter, gemm->weight_views[i]));
    }
    for (const ValueRef& scale : gemm->scales) {
      const Node& node = graph[scale.id];
      taken_.emplace_back(node.name, node.parameter);
      weights.push_back(parameter_view(node.parameter, view_of(graph, scale)));
    }
    const GemmTile tile = choose_tile(gemm->code, target);
    return {tile, find_packed_weights(gemm->code, tile, weights)};
  }
  const GemmCode& gemm_code(size_t kernel) const {
    return std::get<GemmKernel>(kernels_[kernel].body).code;
  }

  const std::vector<Kernel>& kernels_;
  Source source_;
  Generated generated_;
  std::vector<void*> functions_;  // per kernel; null for library kernels
  std::vector<Packed> weights_;   // per kernel; empty unless it is a GEMM
  std::vector<TakenParameter> taken_;
};

}  // namespace

std::unique_ptr<const PlanBackend> make_cpu_backend(const Graph& graph,
                                                    const std::vector<Kernel>& kernels,
                                                    UseCache cache) {
  return std::make_unique<CpuPlanBackend>(graph, kernels, cache);
}

}  // namespace epi::compiler
