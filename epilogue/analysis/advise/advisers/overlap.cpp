// SPDX-License-Identifier: Apache-2.0
// Collectives that nothing overlaps.
#include "epilogue/analysis/advise/advisers.h"
#include "epilogue/analysis/advise/path_advice.h"

namespace epi::analysis {

AdviceList advise_overlap(const AdviserInput& input) {
  // The path does not show how much compute is available for overlap, nor whether anything waits
  // for the result.
  return advise_bound(input, AdviceKind::kOverlap, Bound::kCommunication, {0, 0.5, 1});
}

}  // namespace epi::analysis
