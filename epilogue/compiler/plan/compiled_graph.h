// SPDX-License-Identifier: Apache-2.0
// A graph with its kernels, their memory, and the backend that has their code.
#pragma once

#include <memory>
#include <vector>

#include "epilogue/compiler/plan/plan_backend.h"

namespace epi::compiler {

// What a bound plan refers to, and must not outlive. It stays where it is: the backend refers to
// the graph and to the kernels.
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
  ValueId result;  // what the output is, or is a view of
  Device device;
  bool graph_replay;  // launches are replayed as a CUDA graph, where the device has them
  std::unique_ptr<const PlanBackend> backend;
  MemoryPlan memory;
};

}  // namespace epi::compiler
