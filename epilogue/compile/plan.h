// SPDX-License-Identifier: Apache-2.0
// A compiled graph: a flat list of kernels, where their operands lie, the code, and the weights
// packed for it. Any number of threads may run one plan at the same time.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "epilogue/compile/generate.h"
#include "epilogue/compile/memory_plan.h"
#include "epilogue/compile/packing.h"

namespace epi::compiler {

class Plan {
 public:
  // Compiles the graph's kernels, or takes them from the cache, and packs the weights.
  Plan(Graph graph, const Target& target, UseCache cache);

  // `symbols` are the values of free sizes. Returns the graph's output.
  Tensor run(std::span<const Tensor> inputs, std::span<const int64_t> symbols) const;

  const std::vector<std::string>& kernel_names() const { return source_.names; }
  const std::string& ir() const { return source_.ir; }
  const Generated& generated() const { return generated_; }
  // Kernels, slots of the arena, packed weights with their bytes: one line each.
  std::string to_string() const;

 private:
  struct PackedWeights {
    GemmTile tile;
    Tensor panels;
  };
  // One call: the addresses of everything.
  class Call;

  Graph graph_;
  std::vector<Kernel> kernels_;
  ValueId result_ = 0;  // what the output is, or is a view of
  MemoryPlan memory_;
  Source source_;
  Generated generated_;
  std::vector<void*> functions_;        // of each kernel; null for the library's
  std::vector<PackedWeights> weights_;  // of each kernel; empty for others than GEMMs
};

}  // namespace epi::compiler
