// SPDX-License-Identifier: Apache-2.0
// Memory for intermediate values: slots of one arena, each shared by values that are never live at
// the same time. The assignment to slots is fixed. The sizes depend on the call.
#pragma once

#include <vector>

#include "epilogue/compiler/plan/kernel_list.h"

namespace epi::compiler {

struct ArenaValue {
  ValueId value = -1;  // -1: the buffer for a GEMM's packed rows
  size_t kernel = 0;   // the kernel that writes it
  size_t last = 0;     // the last kernel that reads it
  int slot = 0;
};

struct MemoryPlan {
  std::vector<ArenaValue> values;
  int slots = 0;
};

// Whether the arena has room for GEMMs to pack their rows.
enum class PackRows : uint8_t { kYes, kNo };
// `outside` are the values that the caller receives, which are not in the arena.
MemoryPlan plan_memory(const Graph& graph, const std::vector<Kernel>& kernels,
                       const std::vector<ValueId>& outside, PackRows pack);

}  // namespace epi::compiler
