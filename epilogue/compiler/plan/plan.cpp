// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/compiler/plan/plan_text.h"
#include "epilogue/cuda/cuda_device.h"

namespace epi::compiler {
namespace {

// A graph takes milliseconds to make: those of so many sizes are kept, the oldest goes first.
constexpr size_t kMostGraphSizes = 64;

// A parameter as a node sees it: its sizes are numbers.
Tensor parameter_seen(const Tensor& parameter, const View& view) {
  Layout layout;
  for (const SymSize& size : view.shape) layout.shape.push_back(size.number());
  for (const SymSize& stride : view.strides) layout.strides.push_back(stride.number());
  return {parameter.storage(), layout, parameter.offset() + view.offset.number(),
          parameter.dtype()};
}

CompiledGraph::Packed packed_weights(const Graph& graph, const Kernel& kernel,
                                     const Target& target) {
  const auto* gemm = std::get_if<GemmKernel>(&kernel.body);
  if (gemm == nullptr) return {};
  std::vector<Tensor> weights;
  for (size_t i = 0; i < gemm->weights.size(); ++i) {
    weights.push_back(parameter_seen(graph[gemm->weights[i]].parameter, gemm->weight_views[i]));
  }
  const GemmTile tile = choose_tile(gemm->code, target);
  return {tile, pack_weights(gemm->code, tile, weights)};
}

}  // namespace

Plan::Plan(Graph graph, Device device, UseCache cache, bool graph_replay) {
  compiled_.device = device;
  cache_ = cache;
  compiled_.graph_replay = graph_replay && device != kCpu;
  compiled_.kernels = list_kernels(graph);
  compiled_.result = base_of(graph, graph.outputs[0]);
  compiled_.memory = plan_memory(graph, compiled_.kernels, {compiled_.result},
                                 device == kCpu ? PackRows::kYes : PackRows::kNo);
  device == kCpu ? generate_for_cpu(graph, cache) : generate_for_gpu(graph, cache);
  compiled_.graph = std::move(graph);
}

Plan::~Plan() {
  if (compiled_.device == kCpu) return;
  try {
    cuda::synchronize(compiled_.device.index);
  } catch (const Error&) {  // of work that failed: whoever waits for it is told
  }
}

void Plan::generate_for_cpu(const Graph& graph, UseCache cache) {
  const Target& target = host_target();
  compiled_.source = write_source(compiled_.kernels, target);
  compiled_.generated = generate(compiled_.source, target, cache);
  compiled_.shown = compiled_.source.ir;
  for (size_t i = 0; i < compiled_.kernels.size(); ++i) {
    const Kernel& kernel = compiled_.kernels[i];
    const bool has_code = !std::holds_alternative<LibraryKernel>(kernel.body);
    compiled_.functions.push_back(
        has_code ? compiled_.generated.code->find(compiled_.source.names[i]) : nullptr);
    compiled_.weights.push_back(packed_weights(graph, kernel, target));
  }
}

void Plan::generate_for_gpu(const Graph& graph, UseCache cache) {
  cuda::synchronize(
      compiled_.device.index);  // what passes made of weights is there for every stream
  compiled_.source = write_cuda_source(compiled_.kernels);
  compiled_.gpu = generate_gpu(compiled_.source, compiled_.device.index, cache);
  const bool overlaps = gpu_overlaps_launches(compiled_.device.index);
  for (size_t i = 0; i < compiled_.kernels.size(); ++i) {
    GpuFunctions functions;
    if (std::holds_alternative<PointwiseKernel>(compiled_.kernels[i].body)) {
      const std::string& name = compiled_.source.names[i];
      functions = {compiled_.gpu.code->find(name), compiled_.gpu.code->find(name + "_strided"),
                   overlaps};
    }
    compiled_.gpu_functions.push_back(functions);
    compiled_.gpu_gemms.push_back(gpu_gemm(graph, i, cache));
  }
  compiled_.weights.resize(compiled_.kernels.size());
  compiled_.shown = shown_cuda(compiled_.kernels, compiled_.source);
}

std::unique_ptr<const GpuGemm> Plan::gpu_gemm(const Graph& graph, size_t kernel,
                                              UseCache cache) const {
  const auto* gemm = std::get_if<GemmKernel>(&compiled_.kernels[kernel].body);
  if (gemm == nullptr) return nullptr;
  std::vector<Tensor> weights;
  for (const ValueId id : gemm->weights) weights.push_back(graph[id].parameter);
  return std::make_unique<const GpuGemm>(compiled_.source.names[kernel], gemm->code,
                                         std::move(weights), compiled_.device.index, cache);
}

const Plan& Plan::made_for(std::span<const int64_t> symbols) const {
  if (compiled_.device == kCpu) return *this;
  if (leaves_gpu_idle(symbols)) return library_plan();
  BoundPlan(compiled_, symbols);
  return *this;
}

bool Plan::leaves_gpu_idle(std::span<const int64_t> symbols) const {
  if (make_library_graph_ == nullptr) return false;
  for (size_t i = 0; i < compiled_.kernels.size(); ++i) {
    const auto* gemm = std::get_if<GemmKernel>(&compiled_.kernels[i].body);
    if (gemm == nullptr || !has_epilogue(*gemm)) continue;
    if (!compiled_.gpu_gemms[i]->is_fast_for(gemm->rows.at(symbols))) return true;
  }
  return false;
}

const Plan& Plan::library_plan() const {
  const std::lock_guard lock(making_library_);
  if (library_ == nullptr) {
    if (gpu_is_capturing(compiled_.device.index)) {
      fail("compile",
           "a new size needs other kernels on a stream that is being captured: call it "
           "with this size once before");
    }
    library_ = std::make_unique<const Plan>(make_library_graph_(), compiled_.device, cache_,
                                            compiled_.graph_replay);
  }
  return *library_;
}

bool Plan::is_from_cache() const {
  if (compiled_.device == kCpu) return compiled_.generated.from_cache;
  bool has_code = compiled_.gpu.code != nullptr;
  bool from_cache = !has_code || compiled_.gpu.from_cache;
  for (const auto& gemm : compiled_.gpu_gemms) {
    if (gemm == nullptr) continue;
    has_code = true;
    from_cache = from_cache && gemm->is_from_cache();
  }
  return has_code && from_cache;
}

std::string Plan::not_kept() const {
  if (compiled_.device == kCpu) return compiled_.generated.not_kept;
  std::string why = compiled_.gpu.not_kept;
  for (const auto& gemm : compiled_.gpu_gemms) {
    if (why.empty() && gemm != nullptr) why = gemm->not_kept();
  }
  return why;
}

std::shared_ptr<const BoundPlan> Plan::bound_to(std::span<const int64_t> symbols) const {
  auto bound = bound_.get();
  if (bound != nullptr && !bound->is_for(symbols)) bound.reset();
  return bound;
}

std::shared_ptr<const BoundPlan> Plan::bind(std::span<const int64_t> symbols) const {
  auto bound = bound_to(symbols);
  if (bound != nullptr) return bound;
  if (leaves_gpu_idle(symbols)) {
    bound = library_plan().bind(symbols);
  } else {
    bound = compiled_.graph_replay ? bound_with_graph(symbols)
                                   : std::make_shared<const BoundPlan>(compiled_, symbols);
  }
  bound_.set(bound);
  return bound;
}

std::shared_ptr<const BoundPlan> Plan::bound_with_graph(std::span<const int64_t> symbols) const {
  const std::lock_guard lock(keeping_);
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const auto& bound) { return bound->is_for(symbols); });
  if (found != kept_.end()) return *found;
  if (kept_.size() >= kMostGraphSizes) kept_.erase(kept_.begin());
  return kept_.emplace_back(std::make_shared<const BoundPlan>(compiled_, symbols));
}

std::string Plan::to_string() const { return plan_text(compiled_); }

}  // namespace epi::compiler
