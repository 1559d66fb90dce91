// SPDX-License-Identifier: Apache-2.0
// A graph with its kernels, their memory plan, and the backend that holds their code.
#pragma once

#include <memory>
#include <vector>

#include "epilogue/compiler/plan/plan_backend.h"

namespace epi::compiler {

// Bound plans refer to this object and must not outlive it. It cannot move: the backend refers to
// the graph and the kernels.
struct CompiledGraph {
  CompiledGraph(Graph graph_in, Device device_in, UseCache cache, bool graph_replay_in)
      : graph(std::move(graph_in)),
        kernels(list_kernels(graph)),
        result(base_of(graph, graph.outputs[0])),
        device(device_in),
        graph_replay(graph_replay_in),
        backend(make_backend(graph, kernels, device, cache)),
        memory(plan_memory(graph, kernels, {result}, backend->packs_rows())) {}
  CompiledGraph(const CompiledGraph&) = delete;
  CompiledGraph& operator=(const CompiledGraph&) = delete;

  Graph graph;
  std::vector<Kernel> kernels;
  ValueId result;  // the output, or the value that it is a view of
  Device device;
  bool graph_replay;  // replay launches as a CUDA graph if the device supports it
  std::unique_ptr<const PlanBackend> backend;
  MemoryPlan memory;
};

}  // namespace epi::compiler
