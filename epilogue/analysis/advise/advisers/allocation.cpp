// SPDX-License-Identifier: Apache-2.0
// Allocating and freeing device memory inside the step.
#include "epilogue/analysis/advise/advisers.h"
#include "epilogue/analysis/advise/path_advice.h"

namespace epi::analysis {

AdviceList advise_allocation(const AdviserInput& input) {
  // No pairs were recorded. This is a rule of thumb.
  return advise_bound(input, AdviceKind::kAllocation, Bound::kAllocating, {0.5, 0.9, 1});
}

}  // namespace epi::analysis
