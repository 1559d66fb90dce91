// SPDX-License-Identifier: Apache-2.0
// A compiled graph: a flat list of kernels, the locations of their operands, the code, and the
// packed weights. Thread-safe: any number of threads may run one plan concurrently.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "epilogue/base/shared_value.h"
#include "epilogue/compiler/plan/bound_plan.h"
#include "epilogue/compiler/plan/compiled_graph.h"

namespace epi::compiler {

class Plan {
 public:
  // Compiles the graph's kernels or loads them from the cache, and packs the weights. With
  // `graph_replay`, GPU launches are replayed as a CUDA graph.
  Plan(Graph graph, Device device, UseCache cache, bool graph_replay = false);
  // For sizes at which our GEMMs with epilogues would leave most of the GPU idle, the plan runs the
  // graph that `make` returns instead. It is built on first use.
  void set_library_graph(std::function<Graph()> make) { make_library_graph_ = std::move(make); }

  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  // On a GPU, waits for launches that use the plan's code or its copies of the weights.
  ~Plan();

  // Returns the plan that runs these sizes, this one or the library's, and compiles the code that
  // they need.
  const Plan& prepare_for(std::span<const int64_t> symbols) const;
  // The cached plan for these values of the dynamic sizes, or null if the last ones were different.
  // It must not outlive this plan.
  std::shared_ptr<const BoundPlan> find_bound(std::span<const int64_t> symbols) const;
  // The same, but creates the bound plan if necessary.
  std::shared_ptr<const BoundPlan> bind(std::span<const int64_t> symbols) const;

  // The name of a parameter that was written since its values became part of the plan, or empty.
  std::string changed_parameter() const;
  bool has_changed_parameter() const {
    return std::any_of(taken_.begin(), taken_.end(),
                       [](const TakenParameter& parameter) { return parameter.has_changed(); });
  }

  const std::vector<std::string>& kernel_names() const { return compiled_.backend->names(); }
  const std::string& code() const { return compiled_.backend->code(); }
  const std::vector<std::string>& kernel_code() const { return compiled_.backend->kernel_code(); }
  bool is_from_cache() const { return compiled_.backend->is_from_cache(); }
  // Why the code could not be cached.
  std::string cache_error() const { return compiled_.backend->cache_error(); }
  // One line per kernel, arena slot and packed weight, with sizes in bytes.
  std::string to_string() const;

 private:
  std::shared_ptr<const BoundPlan> bound_with_graph(std::span<const int64_t> symbols) const;
  bool uses_library(std::span<const int64_t> symbols) const;
  const Plan& library_plan() const;

  CompiledGraph compiled_;
  std::vector<TakenParameter> taken_;
  UseCache cache_ = UseCache::kYes;
  std::function<Graph()> make_library_graph_;
  mutable std::mutex library_mutex_;
  mutable std::unique_ptr<const Plan> library_;
  // For the last sizes: most calls use the same ones and only replay it.
  mutable SharedValue<BoundPlan> bound_;
  // Bound plans that hold CUDA graphs.
  mutable std::mutex graph_mutex_;
  mutable std::vector<std::shared_ptr<const BoundPlan>> graph_plans_;
};

}  // namespace epi::compiler
