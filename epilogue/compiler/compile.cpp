// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "epilogue/base/clock.h"
#include "epilogue/base/shared_value.h"
#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "epilogue/compiler/graph/capture.h"
#include "epilogue/compiler/graph/guards.h"
#include "epilogue/compiler/passes/pipeline.h"
#include "epilogue/compiler/plan/plan.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/hooks.h"

namespace epi {
namespace {

using compiler::CallArgs;
using compiler::Captured;
using compiler::CustomGemms;
using compiler::Guards;
using compiler::Plan;

CustomGemms custom_gemms(Device device) {
  if (device == kCpu) return CustomGemms::kPacked;
  return compiler::gpu_has_custom_gemms(device.index) ? CustomGemms::kHopper : CustomGemms::kNone;
}

struct Variant {
  Captured captured;
  Guards guards;
  std::unique_ptr<const Plan> plan;
  std::string region;  // its name in a trace
  VariantInfo info;
  int number = 0;
  uint64_t replacements = 0;  // of kernels, before it was compiled
  bool writes_inputs = false;
  // For each set of sizes seen so far: how the function's graph differs from the captured one, or
  // an empty string.
  mutable std::mutex checking{};
  mutable std::map<std::vector<int64_t>, std::string> checked{};
};

// In the order in which they are checked.
using Variants = std::vector<std::shared_ptr<const Variant>>;

// When this many sets of sizes are cached, the cache is cleared and they are checked again.
constexpr size_t kMaxChecked = 4096;

bool is_older(const std::shared_ptr<const Variant>& a, const std::shared_ptr<const Variant>& b) {
  return a->number < b->number;
}
const Variant& newest(const Variants& variants) {
  return **std::max_element(variants.begin(), variants.end(), is_older);
}
Variants::const_iterator oldest(const Variants& variants) {
  return std::min_element(variants.begin(), variants.end(), is_older);
}

// A stale variant matches no call again.
bool is_stale(const Variant& variant) {
  return variant.replacements != count_replacements() || variant.plan->has_changed_parameter();
}
std::string why_stale(const Variant& variant) {
  if (variant.replacements != count_replacements()) return "a kernel was registered";
  return "the parameter " + variant.plan->changed_parameter() + " was written";
}

// A variant that fits a call, with its plan for the sizes of that call.
struct Match {
  std::shared_ptr<const Variant> variant;
  std::shared_ptr<const compiler::BoundPlan> plan;  // must not outlive the variant
};

// The outcome of matching a call: a variant that fits, or the reason why none does.
struct Choice {
  std::shared_ptr<const Match> match{};
  std::string reason{};
  bool dynamic = true;  // whether to compile a new variant with dynamic sizes
};

// The common device of the inputs and of the parameters that the function reads.
Device common_device(const compiler::Graph& graph, std::span<const Tensor> inputs) {
  std::optional<Device> device;
  if (!inputs.empty()) device = inputs[0].device();
  for (const auto& node : graph.nodes) {
    if (node.kind != compiler::NodeKind::kParameter) continue;
    if (!device) device = node.parameter.device();
    if (node.parameter.device() == *device) continue;
    fail("compile", "the parameter {} is on {}, other tensors on {}: they must share a device",
         node.name, name(node.parameter.device()), name(*device));
  }
  return device.value_or(kCpu);
}

void check_inputs(std::span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) fail("compile", "input {} is an undefined tensor", i);
    // While another function is captured, its tensors have no values.
    if (inputs[i].device().type == DeviceType::kMeta && detail::capture == nullptr) {
      fail("compile", "input {} is on {}: it has no values", i, name(inputs[i].device()));
    }
    if (inputs[i].device() != inputs[0].device()) {
      fail("compile", "input {} is on {}, input 0 on {}: they must share a device", i,
           name(inputs[i].device()), name(inputs[0].device()));
    }
  }
}

// The function writes into one of its inputs: no other tensor that it reads may share that memory,
// because the code does not expect it to change.
void check_aliases(const compiler::Graph& graph, std::span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!graph.nodes[i].written) continue;
    for (size_t j = 0; j < inputs.size(); ++j) {
      if (i == j || !overlap(inputs[i], inputs[j])) continue;
      fail("compile",
           "the function writes into input {}, whose memory overlaps that of input {}: pass one "
           "tensor, "
           "and take views of it inside the function",
           i, j);
    }
    for (const auto& node : graph.nodes) {
      if (node.kind != compiler::NodeKind::kParameter || !overlap(inputs[i], node.parameter))
        continue;
      fail("compile", "the function writes into input {}, whose memory overlaps that of {}", i,
           node.name);
    }
  }
}

[[noreturn]] void refuse_results(const std::string& name, size_t count) {
  fail("compile", "{} returns {} tensors: call run() for all of them", name, count);
}

Tensor only_result(std::vector<Tensor> results, const std::string& name) {
  if (results.size() != 1) refuse_results(name, results.size());
  return std::move(results[0]);
}

// Whether another call has the same sizes and integers.
bool fits(const Match& match, const CallArgs& args) {
  std::array<int64_t, compiler::kMaxSymbols> symbols;
  const auto sizes = std::span(symbols).first(match.variant->guards.symbols());
  return match.variant->guards.accept(args, sizes) && match.plan->is_for(sizes) &&
         !is_stale(*match.variant);
}

}  // namespace

struct Compiled::State {
  compiler::AnyFunction function;
  std::vector<compiler::NamedTensor> parameters;
  CompileOptions options;
  std::mutex compiling;
  // Replaced as a whole when a variant is added, so that running calls keep their snapshot.
  SharedValue<Variants> variants;
  // The last match. Most calls have the same sizes as the call before.
  mutable SharedValue<Match> last;
  std::atomic<int> compilations = 0;
  std::set<compiler::InputDim> changed_sizes;  // between calls; used while compiling

  compiler::CaptureOptions capture_options(size_t inputs, bool dynamic) const;
  VariantInfo describe(const Plan& plan, std::string reason,
                       const std::vector<compiler::Stage>& stages) const;
  // Sizes of 0 and 1 are often special cases in a function. Captures it with those of this call
  // fixed and the other sizes dynamic, if that is possible.
  std::optional<Captured> capture_special(const CallArgs& args,
                                          compiler::CaptureOptions capturing) const;
  void add(const CallArgs& args, bool dynamic, std::string reason);
  // How the function's graph for these sizes and integers differs from the variant's, or empty if
  // it does not.
  std::string difference(const Variant& variant, size_t inputs,
                         std::span<const int64_t> values) const;
  // Throws if the function was captured with another number of arguments.
  void check_count(const CallArgs& args) const;
  // The match for this call, compiled if necessary, or null if there are too many variants.
  std::shared_ptr<const Match> find(const CallArgs& args);
  Choice choose(const CallArgs& args) const;
  Choice compile_for(const CallArgs& args);
};

Compiled::Compiled(compiler::AnyFunction function, std::vector<compiler::NamedTensor> parameters,
                   CompileOptions options)
    : state_(std::make_shared<State>()) {
  if (!function) fail("compile", "the function is empty");
  if (options.max_variants < 1) {
    fail("compile", "max_variants is {}, it must be at least 1", options.max_variants);
  }
  state_->function = std::move(function);
  state_->parameters = std::move(parameters);
  state_->options = std::move(options);
  state_->variants.set(std::make_shared<const Variants>());
}

compiler::CaptureOptions Compiled::State::capture_options(size_t inputs, bool dynamic) const {
  compiler::CaptureOptions capture{dynamic, parameters, {}, {}};
  capture.sizes.given = options.sizes;
  capture.sizes.fixed_integers = options.fixed_integers;
  if (inputs == 1) capture.input_names = {"x"};
  return capture;
}

VariantInfo Compiled::State::describe(const Plan& plan, std::string reason,
                                      const std::vector<compiler::Stage>& stages) const {
  VariantInfo info;
  info.reason = std::move(reason);
  for (const auto& stage : stages) {
    info.stages.push_back(fmt::format("{}:\n{}", stage.pass, stage.text));
  }
  info.code = plan.code();
  info.plan = plan.to_string();
  info.kernels = plan.kernel_names();
  info.kernel_code = plan.kernel_code();
  info.from_cache = plan.is_from_cache();
  info.cache_error = plan.cache_error();
  return info;
}

std::optional<Captured> Compiled::State::capture_special(const CallArgs& args,
                                                         compiler::CaptureOptions capturing) const {
  if (!options.dynamic) return std::nullopt;
  for (size_t i = 0; i < args.tensors.size(); ++i) {
    for (int d = 0; d < args.tensors[i].dim(); ++d) {
      if (args.tensors[i].shape()[d] < 2) capturing.sizes.fixed.emplace(static_cast<int>(i), d);
    }
  }
  if (capturing.sizes.fixed.empty()) return std::nullopt;
  capturing.dynamic = true;
  try {
    Captured captured = compiler::capture(function, args, capturing);
    std::vector<int64_t> values(static_cast<size_t>(captured.symbols));
    const bool accepts = Guards(captured, args.tensors).accept(args, values);
    if (accepts && !compiler::difference_at(function, capturing, captured, values)) return captured;
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): all sizes must be fixed
  }
  return std::nullopt;
}

void Compiled::State::add(const CallArgs& args, bool dynamic, std::string reason) {
  const std::span<const Tensor> inputs = args.tensors;
  const auto current = variants.get();
  const int number = compilations;
  const std::string label = fmt::format("{}/{}", options.name, number);
  const RecordOp op(fmt::format("Epilogue Compile: {} ({})", label, reason));
  const int64_t start_ns = now_ns();
  auto variant = std::make_shared<Variant>();
  variant->replacements = count_replacements();
  compiler::CaptureOptions capturing = capture_options(inputs.size(), dynamic);
  for (const auto& other : *current) changed_sizes.merge(other->guards.changed_sizes(inputs));
  for (const auto& [input, dimension] : changed_sizes) {
    const bool exists = static_cast<size_t>(input) < inputs.size() &&
                        dimension < inputs[static_cast<size_t>(input)].dim();
    if (exists) capturing.sizes.changed.emplace(input, dimension);
  }
  auto special = dynamic ? std::nullopt : capture_special(args, capturing);
  variant->captured = special ? std::move(*special) : compiler::capture(function, args, capturing);
  variant->guards = Guards(variant->captured, inputs);
  const Device device = common_device(variant->captured.graph, inputs);
  if (compiler::is_capturing(device)) {
    fail("compile",
         "{} cannot compile while its stream is being captured ({}): call it once before the "
         "capture",
         options.name, reason);
  }
  compiler::Graph& graph = variant->captured.graph;
  for (int i = 0; i < kOpCount; ++i) {
    if (is_kernel_replaced(device.type, static_cast<Op>(i))) {
      graph.replaced.push_back(static_cast<Op>(i));
    }
  }
  for (auto& node : graph.nodes) {
    variant->writes_inputs |= node.kind == compiler::NodeKind::kInput && node.written;
    node.replaced = node.kind == compiler::NodeKind::kOp && !compiler::may_form(graph, node.op);
  }
  const auto custom = custom_gemms(device);
  auto stages =
      compiler::run_passes(variant->captured.graph, {options.fuse, custom, options.round_gemms});
  auto plan = std::make_unique<Plan>(
      stages.back().graph, device,
      options.cache ? compiler::UseCache::kYes : compiler::UseCache::kNo, options.graph);
  if (custom == CustomGemms::kHopper) {
    // The library graph does not stack GEMMs, which would copy weights.
    plan->set_library_graph([graph = variant->captured.graph] {
      return compiler::run_passes(graph, {Fuse::kPointwise, CustomGemms::kNone}).back().graph;
    });
  }
  variant->plan = std::move(plan);
  // Report the plan for the first sizes: its code may be specialized for them.
  std::array<int64_t, compiler::kMaxSymbols> symbols;
  const auto sizes = std::span(symbols).first(variant->guards.symbols());
  const bool accepts = variant->guards.accept(args, sizes);
  const Plan& prepared = accepts ? variant->plan->prepare_for(sizes) : *variant->plan;
  variant->region = "Epilogue-Compiled Region: " + label;
  variant->number = number;
  variant->info = describe(prepared, std::move(reason), stages);
  variant->info.compile_ms = static_cast<double>(now_ns() - start_ns) * 1e-6;
  auto extended = std::make_shared<Variants>(*current);
  std::erase_if(*extended, [](const auto& other) { return is_stale(*other); });
  if (static_cast<int>(extended->size()) >= options.max_variants)
    extended->erase(oldest(*extended));
  // A variant for fixed sizes precedes the dynamic ones, which would also accept those sizes.
  extended->insert(dynamic ? extended->end() : extended->begin(), std::move(variant));
  variants.set(std::move(extended));
  last.set(nullptr);
  ++compilations;
}

std::string Compiled::State::difference(const Variant& variant, size_t inputs,
                                        std::span<const int64_t> values) const {
  if (values.empty()) return "";
  const std::lock_guard lock(variant.checking);
  std::vector<int64_t> key(values.begin(), values.end());
  if (!options.compare_sizes) {
    for (int64_t& value : key) value = std::min<int64_t>(value, 2);  // 0 and 1 are often special
  }
  const auto known = variant.checked.find(key);
  if (known != variant.checked.end()) return known->second;
  if (variant.checked.size() >= kMaxChecked) variant.checked.clear();
  const auto found =
      compiler::difference_at(function, capture_options(inputs, true), variant.captured, values);
  return variant.checked[key] = found.value_or("");
}

Choice Compiled::State::choose(const CallArgs& args) const {
  std::array<int64_t, compiler::kMaxSymbols> symbols;
  const auto all = variants.get();
  Choice choice{nullptr, all->empty() ? "first call" : "", options.dynamic};
  for (const auto& variant : *all) {
    const auto sizes = std::span(symbols).first(variant->guards.symbols());
    if (!variant->guards.accept(args, sizes)) continue;
    if (is_stale(*variant)) {
      choice.reason = why_stale(*variant);
      continue;
    }
    auto plan = variant->plan->find_bound(sizes);
    if (plan == nullptr) {
      const std::string differs = difference(*variant, args.tensors.size(), sizes);
      if (!differs.empty()) {
        choice.reason = "the function depends on its sizes or integers: " + differs;
        choice.dynamic = false;
        continue;
      }
      plan = variant->plan->bind(sizes);
    }
    choice.match = std::make_shared<const Match>(variant, std::move(plan));
    last.set(choice.match);
    return choice;
  }
  if (choice.reason.empty()) choice.reason = newest(*all).guards.mismatch(args);
  return choice;
}

void Compiled::State::check_count(const CallArgs& args) const {
  const auto all = variants.get();
  if (all->empty()) return;
  const auto check = [&](const char* what, size_t given, size_t expected) {
    if (given == expected) return;
    fail("compile", "{} takes {} {}{}, not {}", options.name, expected, what,
         expected == 1 ? "" : "s", given);
  };
  check("input", args.tensors.size(), all->front()->guards.inputs());
  check("integer", args.integers.size(), all->front()->guards.integers());
}

Choice Compiled::State::compile_for(const CallArgs& args) {
  const std::lock_guard lock(compiling);
  // Another thread may have compiled it in the meantime. Two attempts, because the function may
  // depend on the sizes of this very call, and more if other threads write its parameters.
  constexpr int kMaxAttempts = 100;
  Choice choice = choose(args);
  for (int attempt = 0; attempt < kMaxAttempts && choice.match == nullptr; ++attempt) {
    const auto all = variants.get();
    const auto count = std::count_if(all->begin(), all->end(),
                                     [](const auto& variant) { return !is_stale(*variant); });
    const bool full = static_cast<int>(count) >= options.max_variants;
    if (full && options.over_limit == OverLimit::kEager) return choice;
    if (full && options.over_limit == OverLimit::kThrow) {
      fail("compile",
           "{} has reached its limit of {} variants and needs another: {}; {}raise "
           "max_variants, or choose another over_limit",
           options.name, count, choice.reason,
           args.integers.empty() ? ""
                                 : "compute what depends on an integer outside and pass that, ");
    }
    add(args, choice.dynamic, choice.reason);
    choice = choose(args);
  }
  if (choice.match == nullptr) {
    fail("compile", "{}: {} while it was being compiled, {} times", options.name, choice.reason,
         kMaxAttempts);
  }
  return choice;
}

std::shared_ptr<const Match> Compiled::State::find(const CallArgs& args) {
  std::shared_ptr<const Match> match;
  {
    const RecordOp op("Epilogue Guards");
    match = last.get();
    if (match == nullptr || !fits(*match, args)) match = choose(args).match;
  }
  if (match == nullptr) {
    check_count(args);
    match = compile_for(args).match;
  }
  if (match != nullptr && match->variant->writes_inputs) {
    check_aliases(match->variant->captured.graph, args.tensors);
  }
  return match;
}

std::vector<Tensor> Compiled::run(std::span<const Tensor> inputs,
                                  std::span<const int64_t> integers) const {
  check_inputs(inputs);
  const CallArgs args(inputs, integers);
  // Inside a function that is being captured, inline this one.
  if (detail::capture != nullptr) {
    state_->check_count(args);
    return state_->function(args);
  }
  const auto match = state_->find(args);
  if (match == nullptr) return state_->function(args);  // beyond the limit
  const RecordOp op(match->variant->region);
  return match->plan->run(inputs);
}

Tensor Compiled::operator()(std::span<const Tensor> inputs,
                            std::span<const int64_t> integers) const {
  check_inputs(inputs);
  const CallArgs args(inputs, integers);
  if (detail::capture != nullptr) {
    state_->check_count(args);
    return only_result(state_->function(args), state_->options.name);
  }
  const auto match = state_->find(args);
  if (match == nullptr) return only_result(state_->function(args), state_->options.name);
  const size_t results = match->plan->outputs.size();
  if (results != 1) refuse_results(state_->options.name, results);
  const RecordOp op(match->variant->region);
  return match->plan->run_single(inputs);
}

std::vector<VariantInfo> Compiled::variants() const {
  Variants ordered = *state_->variants.get();
  std::sort(ordered.begin(), ordered.end(), is_older);
  std::vector<VariantInfo> infos;
  for (const auto& variant : ordered) infos.push_back(variant->info);
  return infos;
}

int Compiled::recompiles() const { return std::max(state_->compilations - 1, 0); }

const Tensor& compiler::only(std::span<const Tensor> inputs) {
  if (inputs.size() != 1) fail("compile", "the function takes 1 input, not {}", inputs.size());
  return inputs[0];
}

}  // namespace epi
