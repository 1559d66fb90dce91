// SPDX-License-Identifier: Apache-2.0
// Compares two runs: do they run the same GPU work, and what changed on the CPU? Two kernels are
// the same work if name, grid and block agree, and also sizes if both traces record them. Each
// group is a step, an annotation or an operator that both runs have. The comparison covers the
// groups' shown steps and the medians over all instances.
#pragma once

#include <optional>
#include <string>

#include "epilogue/analysis/compare/comparison.h"
#include "epilogue/analysis/step/step_models.h"

namespace epi::analysis {

// Compares the steps and annotations that both traces have. With `under`, compares only the subject
// of that name. Throws `Error` if a trace has no such subject.
Comparison compare(const StepModels& a, const StepModels& b,
                   const std::optional<std::string>& under);

}  // namespace epi::analysis
