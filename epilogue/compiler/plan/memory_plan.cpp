// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/memory_plan.h"

#include <algorithm>

namespace epi::compiler {
namespace {

size_t last_reader(const Graph& graph, const std::vector<Kernel>& kernels, ValueId value,
                   size_t writer) {
  size_t last = writer;
  for (size_t i = writer; i < kernels.size(); ++i) {
    for (const ValueId input : kernels[i].inputs) {
      if (base_of(graph, input) == value) last = i;
    }
  }
  return last;
}

}  // namespace

MemoryPlan plan_memory(const Graph& graph, const std::vector<Kernel>& kernels,
                       const std::vector<ValueId>& outside, PackRows pack) {
  MemoryPlan plan;
  for (size_t i = 0; i < kernels.size(); ++i) {
    for (const ValueId id : kernels[i].outputs) {
      if (std::find(outside.begin(), outside.end(), id) != outside.end()) continue;
      plan.values.push_back({id, i, last_reader(graph, kernels, id, i), 0});
    }
    const bool packs =
        pack == PackRows::kYes && std::holds_alternative<GemmKernel>(kernels[i].body);
    if (packs) plan.values.push_back({-1, i, i, 0});
  }
  std::vector<size_t> free_after;  // per slot: the last kernel that uses it
  for (ArenaValue& value : plan.values) {
    const auto found = std::find_if(free_after.begin(), free_after.end(),
                                    [&](size_t last) { return last < value.kernel; });
    value.slot = static_cast<int>(found - free_after.begin());
    if (found == free_after.end()) {
      free_after.push_back(value.last);
    } else {
      *found = value.last;
    }
  }
  plan.slots = static_cast<int>(free_after.size());
  return plan;
}

}  // namespace epi::compiler
