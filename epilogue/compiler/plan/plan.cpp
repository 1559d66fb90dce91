// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/compiler/plan/binder.h"
#include "epilogue/compiler/plan/plan_text.h"

namespace epi::compiler {
namespace {

// Creating a CUDA graph takes milliseconds, so those for this many sizes are kept. The oldest is
// evicted first.
constexpr size_t kMaxGraphSizes = 64;

}  // namespace

Plan::Plan(Graph graph, Device device, UseCache cache, bool graph_replay)
    : compiled_(std::move(graph), device, cache, graph_replay),
      taken_(compiled_.graph.taken),
      cache_(cache) {
  for (TakenParameter& packed : compiled_.backend->taken()) taken_.push_back(std::move(packed));
}

std::string Plan::changed_parameter() const {
  for (const TakenParameter& parameter : taken_) {
    if (parameter.has_changed()) return parameter.name;
  }
  return "";
}

Plan::~Plan() {
  try {
    compiled_.backend->wait();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): reported where the work is awaited
  }
}

const Plan& Plan::prepare_for(std::span<const int64_t> symbols) const {
  if (uses_library(symbols)) return library_plan();
  bind_plan(compiled_, symbols);
  return *this;
}

bool Plan::uses_library(std::span<const int64_t> symbols) const {
  return make_library_graph_ != nullptr && !compiled_.backend->is_fast_for(symbols);
}

const Plan& Plan::library_plan() const {
  const std::lock_guard lock(library_mutex_);
  if (library_ == nullptr) {
    if (is_capturing(compiled_.device)) {
      fail("compile",
           "a new size needs other kernels while the stream is being captured: call it once "
           "with this size before the capture");
    }
    library_ = std::make_unique<const Plan>(make_library_graph_(), compiled_.device, cache_,
                                            compiled_.graph_replay);
  }
  return *library_;
}

std::shared_ptr<const BoundPlan> Plan::find_bound(std::span<const int64_t> symbols) const {
  auto bound = bound_.get();
  if (bound != nullptr && !bound->is_for(symbols)) bound.reset();
  return bound;
}

std::shared_ptr<const BoundPlan> Plan::bind(std::span<const int64_t> symbols) const {
  auto bound = find_bound(symbols);
  if (bound != nullptr) return bound;
  if (uses_library(symbols)) {
    bound = library_plan().bind(symbols);
  } else {
    bound = compiled_.graph_replay ? bound_with_graph(symbols) : bind_plan(compiled_, symbols);
  }
  bound_.set(bound);
  return bound;
}

std::shared_ptr<const BoundPlan> Plan::bound_with_graph(std::span<const int64_t> symbols) const {
  const std::lock_guard lock(graph_mutex_);
  const auto found = std::find_if(graph_plans_.begin(), graph_plans_.end(),
                                  [&](const auto& bound) { return bound->is_for(symbols); });
  if (found != graph_plans_.end()) return *found;
  if (graph_plans_.size() >= kMaxGraphSizes) graph_plans_.erase(graph_plans_.begin());
  return graph_plans_.emplace_back(bind_plan(compiled_, symbols));
}

std::string Plan::to_string() const { return plan_text(compiled_); }

}  // namespace epi::compiler
