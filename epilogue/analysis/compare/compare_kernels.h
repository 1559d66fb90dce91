// SPDX-License-Identifier: Apache-2.0
// Compares the device work of two instances: same, resized, fused, changed, added, gone.
#pragma once

#include <vector>

#include "epilogue/analysis/compare/comparison.h"

namespace epi::analysis {

struct WorkSide {
  const TraceIndex& index;
  std::vector<WorkItem> work;
};

// Fills in the kernel lists of `group`.
void compare_kernels(const WorkSide& a, const WorkSide& b, GroupComparison& group);

// The fields in which two decoded names differ: "library", "kind", "dtype", "layout", "tile", ...
std::vector<std::string> differing_fields(const DecodedName& a, const DecodedName& b);

}  // namespace epi::analysis
