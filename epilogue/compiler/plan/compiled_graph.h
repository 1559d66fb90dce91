// SPDX-License-Identifier: Apache-2.0
// A graph with its kernels, their memory plan, and the backend that holds their code.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "epilogue/compiler/plan/plan_backend.h"

namespace epi::compiler {

inline std::vector<ValueId> results_of_plan(const Graph& graph) {
  std::vector<ValueId> results;
  for (const ValueId output : graph.outputs) {
    const ValueId base = base_of(graph, output);
    const bool is_listed = std::find(results.begin(), results.end(), base) != results.end();
    if (graph[base].kind == NodeKind::kOp && !is_listed) results.push_back(base);
  }
  return results;
}

// Bound plans refer to this object and must not outlive it. It cannot move: the backend refers to
// the graph and the kernels.
struct CompiledGraph {
  CompiledGraph(Graph graph_in, Device device_in, UseCache cache, bool graph_replay_in)
      : graph(std::move(graph_in)),
        kernels(list_kernels(graph)),
        results(results_of_plan(graph)),
        device(device_in),
        graph_replay(graph_replay_in),
        backend(make_backend(graph, kernels, device, cache)),
        memory(plan_memory(graph, kernels, results, backend->packs_rows())) {}
  CompiledGraph(const CompiledGraph&) = delete;
  CompiledGraph& operator=(const CompiledGraph&) = delete;

  Graph graph;
  std::vector<Kernel> kernels;
  std::vector<ValueId> results;  // new tensors that the caller receives, or views of them
  Device device;
  bool graph_replay;  // replay launches as a CUDA graph if the device supports it
  std::unique_ptr<const PlanBackend> backend;
  MemoryPlan memory;
};

}  // namespace epi::compiler
