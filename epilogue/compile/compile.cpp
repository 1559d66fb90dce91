// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/compile.h"

#include <fmt/format.h>

#include <array>
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
  Guards guards;
  std::unique_ptr<const Plan> plan;
  std::string region;  // its row in a trace
  VariantInfo info;
};

using Variants = std::vector<std::shared_ptr<const Variant>>;

constexpr size_t kMostSymbols = 32;

}  // namespace

struct Compiled::State {
  compiler::Function function;
  std::vector<compiler::NamedTensor> parameters;
  CompileOptions options;
  std::mutex compiling;
  // Replaced as a whole when one is added: calls go on with what they have read.
  SharedValue<Variants> variants;

  std::shared_ptr<const Variant> add(std::span<const Tensor> inputs, std::string reason);
};

Compiled::Compiled(compiler::Function function, std::vector<compiler::NamedTensor> parameters,
                   CompileOptions options)
    : state_(std::make_shared<State>()) {
  state_->function = std::move(function);
  state_->parameters = std::move(parameters);
  state_->options = std::move(options);
  state_->variants.set(std::make_shared<const Variants>());
}

std::shared_ptr<const Variant> Compiled::State::add(std::span<const Tensor> inputs,
                                                    std::string reason) {
  const auto before = variants.get();
  const size_t number = before->size();
  const std::string label = fmt::format("{}/{}", options.name, number);
  const RecordFunction range(fmt::format("Epilogue Compile: {} ({})", label, reason));
  const int64_t start_ns = now_ns();
  compiler::CaptureOptions capture_options{options.dynamic, parameters, {}};
  if (inputs.size() == 1) capture_options.input_names = {"x"};
  const Captured captured = compiler::capture(function, inputs, capture_options);
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
  auto variant = std::make_shared<const Variant>(Variant{
      std::move(guards), std::move(plan), "Epilogue-Compiled Region: " + label, std::move(info)});
  auto after = std::make_shared<Variants>(*before);
  after->push_back(variant);
  variants.set(std::move(after));
  return variant;
}

Tensor Compiled::operator()(std::span<const Tensor> inputs) const {
  std::array<int64_t, kMostSymbols> room;
  std::span<int64_t> symbols;
  const auto fitting = [&](const Variants& all) -> const Variant* {
    for (const auto& variant : all) {
      symbols = std::span(room).first(variant->guards.symbols());
      if (variant->guards.accept(inputs, symbols)) return variant.get();
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
    all = state_->variants.get();  // another thread may have compiled it meanwhile
    variant = fitting(*all);
    if (variant == nullptr) {
      std::string reason = all->empty() ? "first call" : all->back()->guards.refusal(inputs);
      if (static_cast<int>(all->size()) >= state_->options.most_variants) {
        fail("compile",
             "{} has {} variants, the most that its options allow, and needs another: {}; raise "
             "most_variants, or keep the inputs alike",
             state_->options.name, all->size(), reason);
      }
      state_->add(inputs, std::move(reason));
      all = state_->variants.get();
      variant = fitting(*all);
      EPI_CHECK(variant != nullptr);
    }
  }
  const RecordFunction range(variant->region);
  return variant->plan->run(inputs, symbols);
}

std::vector<VariantInfo> Compiled::variants() const {
  std::vector<VariantInfo> infos;
  for (const auto& variant : *state_->variants.get()) infos.push_back(variant->info);
  return infos;
}

int Compiled::recompiles() const {
  return std::max<int>(static_cast<int>(state_->variants.get()->size()) - 1, 0);
}

}  // namespace epi
