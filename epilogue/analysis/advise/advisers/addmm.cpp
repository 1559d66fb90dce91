// SPDX-License-Identifier: Apache-2.0
// A GEMM and the following add as one kernel.
#include "epilogue/analysis/advise/advisers.h"

namespace epi::analysis {

AdviceList advise_addmm(const AdviserInput& input) {
  AdviceList list;
  for (const AddmmGroup& group : input.fusion.addmms) {
    Advice one;
    one.kind = AdviceKind::kAddmm;
    one.confidence = Confidence::kLikely;
    one.about = {group.sizes.text()};
    one.removes_ns = group.saving_ns;
    one.terms = {{Term::What::kPlaces, static_cast<double>(group.adds.size())},
                 {Term::What::kTakes, group.now_ns},
                 {Term::What::kWouldTake, group.after_ns}};
    one.events = group.adds;
    one.host_events = ops_of_only(input, group.adds);
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace epi::analysis
