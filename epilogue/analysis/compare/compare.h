// SPDX-License-Identifier: Apache-2.0
// Two runs held against each other: is it the same GPU work, and what changed on the CPU? Two
// kernels are the same work where name, grid and block agree, and sizes where both traces have
// them. Each group is a step, an annotation or an operator that both runs have; its typical
// instances are compared, and the medians over all of its instances.
#pragma once

#include <optional>
#include <string>

#include "epilogue/analysis/compare/comparison.h"
#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

// Compares the steps and the annotations that both have; with `under` only what is called so.
// Throws `Error` where one of them has nothing of that name.
Comparison compare(const TraceIndex& a, const TraceIndex& b,
                   const std::optional<std::string>& under);

}  // namespace epi::analysis
