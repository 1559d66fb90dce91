// SPDX-License-Identifier: Apache-2.0
// The GPU backend of a plan: pointwise kernels as one CUDA C++ module, GEMMs that generate their
// code when a size first needs it, and the library for the rest.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/gpu/gpu_code.h"
#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "epilogue/compiler/gpu/gpu_graph.h"
#include "epilogue/compiler/gpu/gpu_pointwise.h"
#include "epilogue/compiler/gpu/library_gemm.h"
#include "epilogue/compiler/passes/custom_gemms.h"
#include "epilogue/compiler/plan/library_step.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/ops/hooks.h"

namespace epi::compiler {
namespace {

LaunchCost launch_cost(const KernelCost& cost) { return {cost.bytes, cost.flops}; }

class GpuPointwiseStep : public BoundStep {
 public:
  GpuPointwiseStep(const GpuFunctions& functions, const PointwiseCode& code,
                   PointwiseBinding binding, int device)
      : binding_(std::move(binding)),
        launches_(functions, code, binding_.shape, binding_.strides),
        device_(device) {
    EPI_CHECK(binding_.operands.size() <= kMaxOperands);
  }
  void run(const CallTensors& tensors) const override {
    if (numel(binding_.shape) == 0) return;
    const RecordOp op(binding_.cost.name);
    run_launch([&] { return launch_cost(binding_.cost); },
               [&] {
                 std::array<std::byte*, kMaxOperands> addresses;
                 const size_t count = binding_.operands.size();
                 for (size_t i = 0; i < count; ++i) {
                   addresses[i] = tensors.address(binding_.operands[i]);
                 }
                 launches_.launch(std::span(addresses).first(count), device_);
               });
  }

 private:
  static constexpr size_t kMaxOperands = 16;
  PointwiseBinding binding_;
  GpuPointwise launches_;
  int device_;
};

class GpuGemmStep : public BoundStep {
 public:
  GpuGemmStep(GpuGemmCall call, GemmBinding binding, int device)
      : call_(call), binding_(std::move(binding)), device_(device) {}
  void run(const CallTensors& tensors) const override {
    if (binding_.rows.count == 0) return;
    std::array<std::byte*, kMaxHopperOperands> operands{};
    const size_t count = binding_.others.size() - 1;  // without the output
    for (size_t i = 0; i < count; ++i) operands[i] = tensors.address(binding_.others[i + 1]);
    const RecordOp op(binding_.cost.name);
    const auto launch = [&] {
      call_.start(tensors.address(binding_.x), tensors.address(binding_.others[0]),
                  std::span(operands).first(count), device_, gpu_stream(device_));
    };
    run_launch([&] { return launch_cost(binding_.cost); }, launch);
  }

 private:
  GpuGemmCall call_;
  GemmBinding binding_;
  int device_;
};

// A library GEMM without the dispatcher overhead. With a listener it goes through the dispatcher,
// so that the operator and its inputs are recorded.
class GpuLibraryStep : public LibraryStep {
 public:
  GpuLibraryStep(LibraryBinding binding, int device)
      : LibraryStep(std::move(binding)), device_(device) {
    std::vector<Layout> layouts;
    for (const Place& place : this->binding().operands) layouts.push_back(place.layout);
    gemm_ = LibraryGemm::plan(*this->binding().node, layouts, this->binding().out.layout);
  }
  void run(const CallTensors& tensors) const override {
    if (!launch_gemm(tensors)) LibraryStep::run(tensors);
  }

 private:
  bool launch_gemm(const CallTensors& tensors) const {
    if (!gemm_ || current_listener() != nullptr) return false;
    std::array<std::byte*, 3> addresses{};
    const size_t count = binding().operands.size();
    for (size_t i = 0; i < count; ++i) addresses[i] = tensors.address(binding().operands[i]);
    return gemm_->start(std::span(addresses).first(count), tensors.address(binding().out), device_);
  }

  std::optional<LibraryGemm> gemm_;
  int device_;
};

class GpuPlanBackend : public PlanBackend {
 public:
  GpuPlanBackend(const Graph& graph, const std::vector<Kernel>& kernels, int device, UseCache cache)
      : graph_(graph), kernels_(kernels), device_(device) {
    cuda::synchronize(device);  // weights copied by passes are ready for every stream
    source_ = write_cuda_source(kernels);
    generated_ = generate_gpu(source_, device, cache);
    const bool overlaps = gpu_overlaps_launches(device);
    for (size_t i = 0; i < kernels.size(); ++i) {
      GpuFunctions functions;
      if (std::holds_alternative<PointwiseKernel>(kernels[i].body)) {
        const std::string& name = source_.names[i];
        functions = {generated_.code->find(name), generated_.code->find(name + "_strided"),
                     overlaps};
      }
      functions_.push_back(functions);
      gemms_.push_back(make_gemm(i, cache));
    }
    printable_ = printable_cuda(kernels, source_);
  }

  const std::vector<std::string>& names() const override { return source_.names; }
  const std::string& code() const override { return printable_; }

  bool is_from_cache() const override {
    bool has_code = generated_.code != nullptr;
    bool from_cache = !has_code || generated_.from_cache;
    for (const auto& gemm : gemms_) {
      if (gemm == nullptr) continue;
      has_code = true;
      from_cache = from_cache && gemm->is_from_cache();
    }
    return has_code && from_cache;
  }
  std::string cache_error() const override {
    std::string why = generated_.cache_error;
    for (const auto& gemm : gemms_) {
      if (why.empty() && gemm != nullptr) why = gemm->cache_error();
    }
    return why;
  }
  KernelText describe(size_t kernel) const override { return {choice_text(kernel), "", ""}; }

  PackRows packs_rows() const override { return PackRows::kNo; }
  int64_t packed_bytes(size_t /*kernel*/, const Rows& /*rows*/) const override { return 0; }

  bool prefers_library(size_t kernel, int64_t rows) const override {
    return !has_epilogue(gemm_kernel(kernel)) && !gemms_[kernel]->is_fast_for(rows);
  }
  bool is_fast_for(std::span<const int64_t> symbols) const override {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (gemms_[i] == nullptr || !has_epilogue(gemm_kernel(i))) continue;
      if (!gemms_[i]->is_fast_for(gemm_kernel(i).rows.at(symbols))) return false;
    }
    return true;
  }

  StepPtr bind(PointwiseBinding binding) const override {
    const auto& info = std::get<PointwiseKernel>(kernels_[binding.kernel].body);
    const GpuFunctions& functions = functions_[binding.kernel];
    return std::make_unique<GpuPointwiseStep>(functions, info.code, std::move(binding), device_);
  }
  StepPtr bind(GemmBinding binding) const override {
    GpuGemmCall call;
    const Rows& rows = binding.rows;
    if (rows.count > 0) {
      call = gemms_[binding.kernel]->bind(rows.count, rows.row_stride);
      // The kernel before the first one is the caller's, which may update a parameter.
      if (binding.kernel == 0) call.wait_for_weights();
    }
    return std::make_unique<GpuGemmStep>(call, std::move(binding), device_);
  }
  StepPtr bind(LibraryBinding binding) const override {
    return std::make_unique<GpuLibraryStep>(std::move(binding), device_);
  }

  std::unique_ptr<GpuGraphs> make_graphs(int64_t arena_bytes) const override {
    return make_gpu_graphs(device_, arena_bytes);
  }
  void wait() const override { cuda::synchronize(device_); }

 private:
  const GemmKernel& gemm_kernel(size_t kernel) const {
    return std::get<GemmKernel>(kernels_[kernel].body);
  }
  std::unique_ptr<const GpuGemm> make_gemm(size_t kernel, UseCache cache) const {
    const auto* gemm = std::get_if<GemmKernel>(&kernels_[kernel].body);
    if (gemm == nullptr) return nullptr;
    std::vector<Tensor> weights;
    for (const ValueId id : gemm->weights) weights.push_back(graph_[id].parameter);
    return std::make_unique<const GpuGemm>(source_.names[kernel], gemm->code, std::move(weights),
                                           device_, cache);
  }
  std::string choice_text(size_t kernel) const;
  std::string library_text(const Node& node) const;

  const Graph& graph_;
  const std::vector<Kernel>& kernels_;
  int device_;
  Source source_;
  GpuGenerated generated_;
  std::vector<GpuFunctions> functions_;                // per kernel; null unless it is pointwise
  std::vector<std::unique_ptr<const GpuGemm>> gemms_;  // per kernel; null unless it is a GEMM
  std::string printable_;
};

std::vector<std::string> forms_of(const GpuGemm& gemm) {
  auto forms = gemm.forms();
  if (forms.empty()) forms.emplace_back("cuBLASLt");
  return forms;
}

std::string GpuPlanBackend::choice_text(size_t kernel) const {
  const auto& body = kernels_[kernel].body;
  if (const auto* pointwise = std::get_if<PointwiseKernel>(&body)) {
    return fmt::format(
        "  custom kernel: {} elements at a time if operands are dense and aligned, else one\n",
        cuda_vector(pointwise->code));
  }
  if (const auto* gemm = std::get_if<GemmKernel>(&body)) {
    return fmt::format(
        "  custom kernel: up to {} rows stream the weights; more use the tiles that keep the GPU\n"
        "  busiest, or cuBLASLt{} if there are too few tiles\n"
        "  for the first size: {}\n",
        kMaxStreamRows, has_epilogue(*gemm) ? " and a separate epilogue kernel" : "",
        join(forms_of(*gemms_[kernel]), ", "));
  }
  return library_text(graph_[std::get<LibraryKernel>(body).node]);
}

std::string GpuPlanBackend::library_text(const Node& node) const {
  const bool activates = node.op == Op::kAddmmActivation;
  if (!is_gemm(node) && !activates) return "  eager kernel: not pointwise\n";
  const auto custom = gpu_has_custom_gemms(device_) ? CustomGemms::kHopper : CustomGemms::kNone;
  const std::string why = why_library_gemm(graph_, node, custom);
  std::string out =
      "  cuBLASLt: " + (why.empty() ? "too few of our tiles to fill the GPU, or not fused" : why);
  if (activates) return out + "; bias and activation in the epilogue\n";
  const Node& weight = graph_[weights_of(node).id];
  if (weight.copied) {
    out += fmt::format("; {}, a copy of {} bytes", weight.name, weight.parameter.size_bytes());
  }
  if (node.op == Op::kAddmm) {
    out += adds_bias(graph_, node) ? "; bias in the epilogue" : "; addend as beta * C";
  }
  return out + "\n";
}

}  // namespace

std::unique_ptr<const PlanBackend> make_gpu_backend(const Graph& graph,
                                                    const std::vector<Kernel>& kernels, int device,
                                                    UseCache cache) {
  return std::make_unique<GpuPlanBackend>(graph, kernels, device, cache);
}

}  // namespace epi::compiler
