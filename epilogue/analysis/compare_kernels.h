// SPDX-License-Identifier: Apache-2.0
// The device work of two instances: same, resized, fused, changed, added, gone.
#pragma once

#include <vector>

#include "epilogue/analysis/compare.h"

namespace epi::analysis {

struct WorkSide {
  const Examined& examined;
  std::vector<WorkItem> work;
};

// Fills in the lists of kernels.
void compare_kernels(const WorkSide& a, const WorkSide& b, GroupComparison& group);

// Fields in which two names differ: "library", "kind", "dtype", "layout", "tile", ...
std::vector<std::string> differing_fields(const KernelName& a, const KernelName& b);

}  // namespace epi::analysis
