// SPDX-License-Identifier: Apache-2.0
// A compiled graph: a flat list of kernels, where their operands lie, the code, and the weights
// packed for it. Any number of threads may run one plan at the same time.
#pragma once

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
  // Compiles the graph's kernels, or takes them from the cache, and packs the weights. With
  // `graph_replay`, launches on a GPU are replayed as a CUDA graph.
  Plan(Graph graph, Device device, UseCache cache, bool graph_replay = false);
  // Sizes for which GEMMs of ours with their epilogues leave most of the GPU idle run by the
  // plan of the graph that this makes, where they come.
  void set_library_graph(std::function<Graph()> make) { make_library_graph_ = std::move(make); }

  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  // On a GPU, waits for the launches that use its code and its copies of weights.
  ~Plan();

  // The plan that these sizes run by, this one or the library's, with the code that they need.
  const Plan& made_for(std::span<const int64_t> symbols) const;
  // For these values of free sizes; null unless the last ones were the same. It must not outlive
  // the plan.
  std::shared_ptr<const BoundPlan> bound_to(std::span<const int64_t> symbols) const;
  // The same, made where it is not there.
  std::shared_ptr<const BoundPlan> bind(std::span<const int64_t> symbols) const;

  const std::vector<std::string>& kernel_names() const { return compiled_.backend->names(); }
  const std::string& code() const { return compiled_.backend->code(); }
  bool is_from_cache() const { return compiled_.backend->is_from_cache(); }
  // Why the cache could not keep the code.
  std::string not_kept() const { return compiled_.backend->not_kept(); }
  // Kernels, slots of the arena, packed weights with their bytes: one line each.
  std::string to_string() const;

 private:
  std::shared_ptr<const BoundPlan> bound_with_graph(std::span<const int64_t> symbols) const;
  bool uses_library(std::span<const int64_t> symbols) const;
  const Plan& library_plan() const;

  CompiledGraph compiled_;
  UseCache cache_ = UseCache::kYes;
  std::function<Graph()> make_library_graph_;
  mutable std::mutex making_library_;
  mutable std::unique_ptr<const Plan> library_;
  // Of the last sizes: a call with the same ones, which most are, only replays it.
  mutable SharedValue<BoundPlan> bound_;
  // Those that hold graphs.
  mutable std::mutex keeping_;
  mutable std::vector<std::shared_ptr<const BoundPlan>> kept_;
};

}  // namespace epi::compiler
