// SPDX-License-Identifier: Apache-2.0
// Data loading while the device waits.
#include "epilogue/analysis/advise/advisers.h"
#include "epilogue/analysis/time/loading.h"

namespace epi::analysis {

AdviceList advise_input(const AdviserInput& input) {
  constexpr double kMinShare = 0.05;
  if (!input.diagnosis || input.diagnosis->share(Limiter::kInput) < kMinShare) return {};
  const Diagnosis& diagnosis = *input.diagnosis;
  const Loading loading = loading_in(input.index, diagnosis.step.window);
  const auto ns = static_cast<double>(diagnosis.ns(Limiter::kInput));
  Advice one;
  const bool has_workers = loading.loader.find("MultiProcessing") != std::string::npos;
  one.kind = has_workers ? AdviceKind::kMoreWorkers : AdviceKind::kInput;
  if (!loading.function.empty()) one.about = {loading.function};
  // With enough workers, device work hides all of it except the handover of a batch. Measured in
  // pairs of recordings on an H200, see docs/advise.md.
  one.removes_ns = {0.5 * ns, 0.94 * ns, ns};
  one.confidence = has_workers ? Confidence::kGuess : Confidence::kLikely;
  one.terms = {{Term::What::kCalls, static_cast<double>(loading.fetches)},
               {Term::What::kTakes, static_cast<double>(loading.ns)}};
  for (const PathPart& part : diagnosis.path) {
    if (part.bound == Bound::kInput && part.event != trace::kNoEvent)
      one.events.push_back(part.event);
  }
  return {std::move(one)};
}

}  // namespace epi::analysis
