// SPDX-License-Identifier: Apache-2.0
// The GPU backend of a plan: pointwise kernels as one CUDA C++ module, GEMMs that generate their
// code when a size first needs it, and the library for the rest.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/gpu/gpu_code.h"
#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "epilogue/compiler/gpu/gpu_graph.h"
#include "epilogue/compiler/gpu/gpu_mlp.h"
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

// The addresses of an epilogue's operands in one call.
class OperandAddresses {
 public:
  OperandAddresses(const GemmBinding& binding, const CallTensors& tensors)
      : count_(binding.others.size() - 1) {  // without the output
    for (size_t i = 0; i < count_; ++i) addresses_[i] = tensors.address(binding.others[i + 1]);
  }
  std::span<std::byte* const> get() const { return std::span(addresses_).first(count_); }

 private:
  std::array<std::byte*, kMaxHopperOperands> addresses_{};
  size_t count_;
};

class GpuGemmStep : public BoundStep {
 public:
  GpuGemmStep(GpuGemmCall call, GemmBinding binding, int device)
      : call_(call), binding_(std::move(binding)), device_(device) {}
  void run(const CallTensors& tensors) const override {
    if (binding_.rows.count == 0) return;
    const OperandAddresses operands(binding_, tensors);
    const RecordOp op(binding_.cost.name);
    const auto launch = [&] {
      call_.start(tensors.address(binding_.x), tensors.address(binding_.others[0]), operands.get(),
                  device_, gpu_stream(device_));
    };
    run_launch([&] { return launch_cost(binding_.cost); }, launch);
  }

 private:
  GpuGemmCall call_;
  GemmBinding binding_;
  int device_;
};

// Two GEMMs as one kernel.
class GpuMlpStep : public BoundStep {
 public:
  GpuMlpStep(const GpuMlp& mlp, HopperMlp form, std::vector<Tensor> weights, GemmBinding first,
             GemmBinding second, int device)
      : mlp_(mlp),
        form_(form),
        weights_(std::move(weights)),
        first_(std::move(first)),
        second_(std::move(second)),
        device_(device) {
    mlp.prepare();
  }
  void run(const CallTensors& tensors) const override {
    const OperandAddresses operands(first_, tensors);
    const OperandAddresses down_operands(second_, tensors);
    GpuMlpData data;
    data.x = tensors.address(first_.x);
    data.x_stride = first_.rows.row_stride;
    data.w0 = weights_.front().raw_data();
    data.w1 = weights_[weights_.size() - 2].raw_data();
    data.down = weights_.back().raw_data();
    data.y = tensors.address(second_.others[0]);
    data.operands = operands.get();
    data.down_operands = down_operands.get();
    const bool early = first_.kernel > 0;  // see GpuPlanBackend::bind
    const RecordOp op(mlp_.name());
    run_launch([&] { return cost(); },
               [&] { mlp_.start(form_, first_.rows.count, data, early, gpu_stream(device_)); });
  }

 private:
  // The hidden activations are neither written nor read.
  LaunchCost cost() const {
    const int64_t hidden = numel(second_.x.layout.shape) * size_bytes(second_.x.dtype);
    return {first_.cost.bytes + second_.cost.bytes - 2 * hidden,
            first_.cost.flops + second_.cost.flops};
  }

  const GpuMlp& mlp_;
  HopperMlp form_;
  std::vector<Tensor> weights_;  // of the first GEMM, then of the second
  GemmBinding first_;
  GemmBinding second_;
  int device_;
};

// Whether the next kernel is a GEMM that alone reads the result of this one, as its rows.
bool feeds_next(const Graph& graph, const std::vector<Kernel>& kernels, size_t kernel) {
  if (kernel + 1 >= kernels.size()) return false;
  const auto* first = std::get_if<GemmKernel>(&kernels[kernel].body);
  const auto* second = std::get_if<GemmKernel>(&kernels[kernel + 1].body);
  if (first == nullptr || second == nullptr || kernels[kernel].outputs.size() != 1 ||
      kernels[kernel + 1].outputs.size() != 1) {
    return false;
  }
  const ValueId hidden = kernels[kernel].outputs[0];
  const SymDims dense = {SymSize(first->code.n), SymSize(1)};
  if (second->x.value != hidden || second->x.offset != SymSize(0) || second->x.strides != dense ||
      second->rows != first->rows) {
    return false;
  }
  // Others may read it through views.
  const auto reads_it = [&](ValueId id) { return base_of(graph, id) == hidden; };
  for (const Access& operand : second->operands) {
    if (reads_it(operand.value)) return false;
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    const auto& inputs = kernels[i].inputs;
    if (i != kernel + 1 && std::any_of(inputs.begin(), inputs.end(), reads_it)) return false;
  }
  return std::none_of(graph.outputs.begin(), graph.outputs.end(), reads_it);
}

// A library GEMM without the dispatcher overhead. With a listener it goes through the dispatcher,
// so that the operator and its inputs are recorded.
class GpuLibraryStep : public LibraryStep {
 public:
  GpuLibraryStep(LibraryBinding binding, int device)
      : LibraryStep(std::move(binding)), device_(device) {
    if (this->binding().node->replaced) return;
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
    for (size_t i = 0; i < kernels.size(); ++i) mlps_.push_back(make_mlp(i, cache));
    printable_ = printable_cuda(kernels, source_);
  }

  const std::vector<std::string>& names() const override { return source_.names; }
  const std::string& code() const override { return printable_; }
  const std::vector<std::string>& kernel_code() const override { return source_.texts; }

  bool is_from_cache() const override {
    bool has_code = generated_.code != nullptr;
    bool from_cache = !has_code || generated_.from_cache;
    for (const auto& gemm : gemms_) {
      if (gemm == nullptr) continue;
      has_code = true;
      from_cache = from_cache && gemm->is_from_cache();
    }
    for (const auto& mlp : mlps_) from_cache = from_cache && (!mlp || mlp->is_from_cache());
    return has_code && from_cache;
  }
  std::string cache_error() const override {
    std::string why = generated_.cache_error;
    for (const auto& gemm : gemms_) {
      if (why.empty() && gemm != nullptr) why = gemm->cache_error();
    }
    for (const auto& mlp : mlps_) {
      if (why.empty() && mlp != nullptr) why = mlp->cache_error();
    }
    return why;
  }
  KernelText describe(size_t kernel) const override { return {choice_text(kernel), ""}; }

  PackRows packs_rows() const override { return PackRows::kNo; }
  int64_t packed_bytes(size_t /*kernel*/, const Rows& /*rows*/) const override { return 0; }

  bool prefers_library(size_t kernel, int64_t rows) const override {
    return !has_epilogue(gemm_kernel(kernel)) && !gemms_[kernel]->is_fast_for(rows);
  }
  bool is_fast_for(std::span<const int64_t> symbols) const override {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (gemms_[i] == nullptr || !has_epilogue(gemm_kernel(i))) continue;
      const int64_t rows = gemm_kernel(i).rows.at(symbols);
      if (joins_next(i, rows) || (i > 0 && joins_next(i - 1, rows))) continue;
      if (!gemms_[i]->is_fast_for(rows)) return false;
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

  bool joins_next(size_t kernel, int64_t rows) const override {
    return rows > 0 && mlps_[kernel] != nullptr && mlps_[kernel]->choose(rows).has_value();
  }
  StepPtr bind_joined(GemmBinding first, GemmBinding second) const override {
    const GpuMlp& mlp = *mlps_[first.kernel];
    std::vector<Tensor> weights = weights_of_gemm(first.kernel);
    weights.push_back(weights_of_gemm(second.kernel)[0]);
    return std::make_unique<GpuMlpStep>(mlp, mlp.choose(first.rows.count).value(),
                                        std::move(weights), std::move(first), std::move(second),
                                        device_);
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
    return std::make_unique<const GpuGemm>(source_.names[kernel], gemm->code,
                                           weights_of_gemm(kernel), device_, cache);
  }
  // Null unless this GEMM and the next one can run as one kernel.
  std::unique_ptr<const GpuMlp> make_mlp(size_t kernel, UseCache cache) const {
    if (!feeds_next(graph_, kernels_, kernel)) return nullptr;
    return std::make_unique<const GpuMlp>(source_.names[kernel], gemm_kernel(kernel).code,
                                          gemm_kernel(kernel + 1).code, device_, cache);
  }
  std::vector<Tensor> weights_of_gemm(size_t kernel) const {
    std::vector<Tensor> weights;
    for (const ValueId id : gemm_kernel(kernel).weights) weights.push_back(graph_[id].parameter);
    return weights;
  }
  std::string forms_text(size_t kernel) const;
  std::string choice_text(size_t kernel) const;
  std::string library_text(const Node& node) const;

  const Graph& graph_;
  const std::vector<Kernel>& kernels_;
  int device_;
  Source source_;
  GpuGenerated generated_;
  std::vector<GpuFunctions> functions_;                // per kernel; null unless it is pointwise
  std::vector<std::unique_ptr<const GpuGemm>> gemms_;  // per kernel; null unless it is a GEMM
  std::vector<std::unique_ptr<const GpuMlp>> mlps_;    // per kernel; see make_mlp
  std::string printable_;
};

// What has been generated for a GEMM so far.
std::string GpuPlanBackend::forms_text(size_t kernel) const {
  const auto forms = gemms_[kernel]->forms();
  if (!forms.empty()) return join(forms, ", ");
  for (const size_t first : {kernel, kernel - 1}) {
    if (first < mlps_.size() && mlps_[first] != nullptr && mlps_[first]->is_prepared()) {
      return mlps_[first]->name();
    }
  }
  return "cuBLASLt";
}

std::string GpuPlanBackend::choice_text(size_t kernel) const {
  const auto& body = kernels_[kernel].body;
  if (const auto* pointwise = std::get_if<PointwiseKernel>(&body)) {
    return fmt::format(
        "  custom kernel: {} elements at a time if operands are dense and aligned, else one\n",
        cuda_vector(pointwise->code));
  }
  if (const auto* gemm = std::get_if<GemmKernel>(&body)) {
    const auto& mlp = mlps_[kernel];
    const std::string joined =
        mlp != nullptr && mlp->is_useful()
            ? fmt::format("  fewer rows: {}, one kernel for this GEMM and the next\n", mlp->name())
            : "";
    return fmt::format(
        "{}  custom kernel: up to {} rows stream the weights; more use the tiles that keep the "
        "GPU\n"
        "  busiest, or cuBLASLt{} if there are too few tiles\n"
        "  for the first size: {}\n",
        joined, kMaxStreamRows, has_epilogue(*gemm) ? " and a separate epilogue kernel" : "",
        forms_text(kernel));
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
