// SPDX-License-Identifier: Apache-2.0
// Binds a compiled graph to concrete sizes: computes all addresses and the arguments of the
// kernels.
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
