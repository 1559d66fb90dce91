// SPDX-License-Identifier: Apache-2.0
// The text form of a plan: `--show plan`.
#pragma once

#include <string>

#include "epilogue/compiler/plan/compiled_graph.h"

namespace epi::compiler {

// One line per kernel with its implementation and the reason, per arena slot, and per packed
// weight.
std::string plan_text(const CompiledGraph& compiled);

}  // namespace epi::compiler
