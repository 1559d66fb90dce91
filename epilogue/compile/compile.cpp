// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>

#include "epilogue/base/clock.h"
#include "epilogue/base/shared_value.h"
#include "epilogue/compile/guards.h"
#include "epilogue/compile/pipeline.h"
#include "epilogue/compile/plan.h"
#include "epilogue/ops/hooks.h"

namespace epi {
namespace {

using compiler::Captured;
using compiler::Guards;
using compiler::Plan;

struct Variant {
  Captured captured;
  Guards guards;
  std::unique_ptr<const Plan> plan;
  std::string region;  // its row in a trace
  VariantInfo info;
  int number = 0;
  // Sizes that came, and whether the function's graph is the captured one for them.
  mutable std::mutex checking{};
  mutable std::map<std::vector<int64_t>, std::string> checked{};
};

// In the order in which they are tried.
using Variants = std::vector<std::shared_ptr<const Variant>>;

// Beyond so many different sizes they are looked at again.
constexpr size_t kMostChecked = 4096;

const Variant& newest(const Variants& variants) {
  const auto by_number = [](const auto& a, const auto& b) { return a->number < b->number; };
  return **std::max_element(variants.begin(), variants.end(), by_number);
}

}  // namespace

struct Compiled::State {
  compiler::Function function;
  std::vector<compiler::NamedTensor> parameters;
  CompileOptions options;
  std::mutex compiling;
  // Replaced as a whole when one is added: calls go on with what they have read.
  SharedValue<Variants> variants;

  compiler::CaptureOptions capture_options(size_t inputs, bool dynamic) const;
  void add(std::span<const Tensor> inputs, bool dynamic, std::string reason);
  // How the function differs for these sizes from what the variant has; empty: it does not.
  std::string difference(const Variant& variant, std::span<const Tensor> inputs,
                         std::span<const int64_t> sizes) const;
};

Compiled::Compiled(compiler::Function function, std::vector<compiler::NamedTensor> parameters,
                   CompileOptions options)
    : state_(std::make_shared<State>()) {
  state_->function = std::move(function);
  state_->parameters = std::move(parameters);
  state_->options = std::move(options);
  state_->variants.set(std::make_shared<const Variants>());
}

compiler::CaptureOptions Compiled::State::capture_options(size_t inputs, bool dynamic) const {
  compiler::CaptureOptions capture{dynamic, parameters, {}};
  if (inputs == 1) capture.input_names = {"x"};
  return capture;
}

void Compiled::State::add(std::span<const Tensor> inputs, bool dynamic, std::string reason) {
  const auto before = variants.get();
  const std::string label = fmt::format("{}/{}", options.name, before->size());
  const RecordFunction range(fmt::format("Epilogue Compile: {} ({})", label, reason));
  const int64_t start_ns = now_ns();
  Captured captured = compiler::capture(function, inputs, capture_options(inputs.size(), dynamic));
  Guards guards(captured, inputs);
  auto stages = compiler::run_passes(captured.graph, options.fuse);
  VariantInfo info;
  info.reason = std::move(reason);
  for (const auto& stage : stages) {
    info.stages.push_back(fmt::format("{}:\n{}", stage.pass, stage.text));
  }
  auto plan = std::make_unique<const Plan>(
      std::move(stages.back().graph), compiler::host_target(),
      options.cache ? compiler::UseCache::kYes : compiler::UseCache::kNo);
  info.code = plan->ir();
  info.plan = plan->to_string();
  info.kernels = plan->kernel_names();
  info.from_cache = plan->generated().from_cache;
  info.not_kept = plan->generated().not_kept;
  info.compile_ms = static_cast<double>(now_ns() - start_ns) * 1e-6;
  auto after = std::make_shared<Variants>(*before);
  // One of fixed sizes comes before those that would take them.
  const auto place = dynamic ? after->end() : after->begin();
  after->insert(
      place, std::make_shared<const Variant>(std::move(captured), std::move(guards),
                                             std::move(plan), "Epilogue-Compiled Region: " + label,
                                             std::move(info), static_cast<int>(before->size())));
  variants.set(std::move(after));
}

std::string Compiled::State::difference(const Variant& variant, std::span<const Tensor> inputs,
                                        std::span<const int64_t> sizes) const {
  if (sizes.empty() || variant.plan->is_bound_to(sizes)) return "";
  const std::lock_guard lock(variant.checking);
  const std::vector<int64_t> key(sizes.begin(), sizes.end());
  const auto known = variant.checked.find(key);
  if (known != variant.checked.end()) return known->second;
  if (variant.checked.size() >= kMostChecked) variant.checked.clear();
  const auto found = compiler::difference_at(function, inputs, capture_options(inputs.size(), true),
                                             variant.captured, sizes);
  return variant.checked[key] = found.value_or("");
}

namespace {

void check_inputs(std::span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) fail("compile", "input {} is an undefined tensor", i);
    if (inputs[i].device() != kCpu) {
      fail("compile", "input {} is on {}: this version compiles for the CPU", i,
           name(inputs[i].device()));
    }
  }
}

}  // namespace

Tensor Compiled::operator()(std::span<const Tensor> inputs) const {
  // Inside of another function that is captured, this one is part of it.
  if (detail::capture != nullptr) return state_->function(inputs);
  check_inputs(inputs);
  std::array<int64_t, compiler::kMostSymbols> room;
  std::span<int64_t> symbols;
  std::string reason;  // why none fits
  bool dynamic = state_->options.dynamic;
  const auto fitting = [&](const Variants& all) -> const Variant* {
    reason = all.empty() ? "first call" : "";
    dynamic = state_->options.dynamic;
    for (const auto& variant : all) {
      symbols = std::span(room).first(variant->guards.symbols());
      if (!variant->guards.accept(inputs, symbols)) continue;
      const std::string difference = state_->difference(*variant, inputs, symbols);
      if (difference.empty()) return variant.get();
      reason = "the function looks at sizes: " + difference;
      dynamic = false;
    }
    return nullptr;
  };
  auto all = state_->variants.get();
  const Variant* variant = nullptr;
  {
    const RecordFunction range("Epilogue Guards");
    variant = fitting(*all);
  }
  if (variant == nullptr) {
    const std::lock_guard lock(state_->compiling);
    // Another thread may have compiled it meanwhile; a first call may differ at its own sizes.
    for (int attempt = 0; attempt < 3 && variant == nullptr; ++attempt) {
      all = state_->variants.get();
      variant = fitting(*all);
      if (variant != nullptr) break;
      if (reason.empty()) reason = newest(*all).guards.refusal(inputs);
      if (static_cast<int>(all->size()) >= state_->options.most_variants) {
        fail("compile",
             "{} has {} variants, the most that its options allow, and needs another: {}; raise "
             "most_variants, or keep the inputs alike",
             state_->options.name, all->size(), reason);
      }
      state_->add(inputs, dynamic, reason);
    }
    if (variant == nullptr) {
      all = state_->variants.get();
      variant = fitting(*all);
    }
    EPI_CHECK(variant != nullptr);
  }
  const RecordFunction range(variant->region);
  return variant->plan->run(inputs, symbols);
}

std::vector<VariantInfo> Compiled::variants() const {
  const auto all = state_->variants.get();
  std::vector<VariantInfo> infos(all->size());
  for (const auto& variant : *all) infos[static_cast<size_t>(variant->number)] = variant->info;
  return infos;
}

int Compiled::recompiles() const {
  return std::max<int>(static_cast<int>(state_->variants.get()->size()) - 1, 0);
}

}  // namespace epi
