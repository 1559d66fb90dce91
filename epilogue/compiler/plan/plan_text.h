// SPDX-License-Identifier: Apache-2.0
// A plan as text: `--show plan`.
#pragma once

#include <string>

#include "epilogue/compiler/plan/compiled_graph.h"

namespace epi::compiler {

// Kernels with what runs them and why, slots of the arena, packed weights: one line each.
std::string plan_text(const CompiledGraph& compiled);

}  // namespace epi::compiler
