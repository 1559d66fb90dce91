// SPDX-License-Identifier: Apache-2.0
// Operators that a compiler would fuse.
#include "epilogue/analysis/advise/advisers.h"

namespace epi::analysis {

AdviceList advise_fusion(const AdviserInput& input) {
  const FusionEstimate& fusion = input.fusion;
  AdviceList list;
  for (const FusionGroup& group : fusion.groups) {
    const bool alone = group.ops.size() == 1;
    Advice one;
    one.kind = alone ? AdviceKind::kRegenerate : AdviceKind::kFuse;
    one.about = group.ops;
    one.removes_ns = group.saving_ns;
    one.confidence = group.sizes_known && !alone ? Confidence::kLikely : Confidence::kGuess;
    one.events = group.work;
    const auto count = static_cast<double>(group.count);
    one.terms = {{Term::What::kPlaces, count},
                 {Term::What::kKernels, static_cast<double>(group.kernels)},
                 {Term::What::kTakes, group.eager_ns}};
    if (group.sizes_known) {
      one.terms.push_back({Term::What::kMoves, count * group.eager_bytes});
      one.terms.push_back({Term::What::kWouldMove, count * group.fused_bytes});
      one.terms.push_back(
          {fusion.rates_measured ? Term::What::kMeasuredRate : Term::What::kDataSheetRate,
           fusion.rates.bytes_per_ns});
    }
    one.terms.push_back({Term::What::kWouldTake, group.fused_ns});
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace epi::analysis
