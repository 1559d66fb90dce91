// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/path_advice.h"

namespace epi::analysis {

AdviceList advise_bound(const AdviserInput& input, AdviceKind kind, Bound bound,
                        const Estimate& removed) {
  constexpr double kMinShare = 0.05;
  if (!input.diagnosis || input.diagnosis->share(bound) < kMinShare) return {};
  const auto ns = static_cast<double>(input.diagnosis->bounds[static_cast<size_t>(bound)]);
  Advice one;
  one.kind = kind;
  one.removes_ns = removed.scaled(ns);
  for (const PathPart& part : input.diagnosis->path) {
    if (part.bound == bound && part.event != trace::kNoEvent) one.events.push_back(part.event);
  }
  one.terms = {{Term::What::kCalls, static_cast<double>(one.events.size())},
               {Term::What::kTakes, ns}};
  return {std::move(one)};
}

}  // namespace epi::analysis
