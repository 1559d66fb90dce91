// SPDX-License-Identifier: Apache-2.0
// The device work of two instances: same, resized, fused, changed, added, gone.
#pragma once

#include <vector>

#include "epilogue/analysis/compare/comparison.h"

namespace epi::analysis {

struct WorkSide {
  const TraceIndex& index;
  std::vector<WorkItem> work;
};

// Fills in the lists of kernels.
void compare_kernels(const WorkSide& a, const WorkSide& b, GroupComparison& group);

// Fields in which two names differ: "library", "kind", "dtype", "layout", "tile", ...
std::vector<std::string> differing_fields(const DecodedName& a, const DecodedName& b);

}  // namespace epi::analysis
