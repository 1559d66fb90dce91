// SPDX-License-Identifier: Apache-2.0
// Fills the free sizes of a compiled graph in: where everything lies, and what kernels are called
// with.
#pragma once

#include <memory>
#include <span>

#include "epilogue/compiler/plan/bound_plan.h"
#include "epilogue/compiler/plan/compiled_graph.h"

namespace epi::compiler {

// `compiled` must outlive the plan.
std::shared_ptr<const BoundPlan> bind_plan(const CompiledGraph& compiled,
                                           std::span<const int64_t> symbols);

}  // namespace epi::compiler
