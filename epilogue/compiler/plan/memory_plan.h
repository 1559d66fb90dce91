// SPDX-License-Identifier: Apache-2.0
// Where values between kernels lie: slots of one arena, each shared by values that are never alive
// at the same time. Which value takes which slot is decided once; sizes follow the call.
#pragma once

#include <vector>

#include "epilogue/compiler/plan/kernel_list.h"

namespace epi::compiler {

struct ArenaValue {
  ValueId value = -1;  // -1: the room in which a GEMM packs its rows
  size_t kernel = 0;   // that writes it
  size_t last = 0;     // that reads it
  int slot = 0;
};

struct MemoryPlan {
  std::vector<ArenaValue> values;
  int slots = 0;
};

// `outside` are values that do not lie in the arena: what the caller gets. GEMMs that pack their
// rows have room for them.
enum class PackRows : uint8_t { kYes, kNo };
MemoryPlan plan_memory(const Graph& graph, const std::vector<Kernel>& kernels,
                       const std::vector<ValueId>& outside, PackRows pack);

}  // namespace epi::compiler
