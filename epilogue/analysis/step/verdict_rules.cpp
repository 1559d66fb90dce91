// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/step/verdict_rules.h"

namespace epi::analysis {
namespace {

// Two limiters are mixed if the steps get shorter by similar shares without either.
constexpr double kMixedRatio = 1.25;
// A limiter that saves less than this share of the largest saving cannot substitute it.
constexpr double kSubstituteShare = 0.5;
// Capture and compilation are the verdict from this share of the time on.
constexpr double kMainShare = 0.5;
// Above this share of the time, what the trace does not show decides.
constexpr double kUnknownShare = 0.4;

bool causes_idle_time(Limiter limiter) {
  return limiter != Limiter::kGpu && limiter != Limiter::kCommunication &&
         limiter != Limiter::kCopies;
}

}  // namespace

Limiter limiter_of(const IdleGap& gap) {
  switch (gap.cause) {
    case IdleCause::kNotLaunched:
      return limiter_of(bound_of(gap.activity));
    case IdleCause::kLaunchLatency:
    case IdleCause::kBetweenKernels:
      return Limiter::kHost;
    case IdleCause::kNotInTrace:
    case IdleCause::kNoLaunch:
      return Limiter::kNotInTrace;
  }
  return Limiter::kNotInTrace;
}

std::vector<Limiter> ordered_by_saving(const StepWithout& retimed) {
  std::vector<Limiter> order;
  for (size_t i = 0; i < kLimiters; ++i) {
    if (static_cast<Limiter>(i) != Limiter::kNotInTrace) order.push_back(static_cast<Limiter>(i));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](Limiter a, Limiter b) { return retimed.saves(a) > retimed.saves(b); });
  return order;
}

// In the order of docs/verdicts.md.
Limiter limiter_of(const Evidence& evidence, const WithoutBoth& without_ns) {
  const LimiterTimes path = by_limiter(evidence.bounds);
  const auto path_share = [&](Limiter limiter) {
    return ratio(path[static_cast<size_t>(limiter)], evidence.path_ns);
  };
  const auto idle_ns = [&](Limiter limiter) { return evidence.idle[static_cast<size_t>(limiter)]; };
  if (evidence.path_ns <= 0) return Limiter::kNotConclusive;
  if (ratio(evidence.capture_ns, evidence.window_ns) >= kMainShare) return Limiter::kCapture;
  if (path_share(Limiter::kCompiling) >= kMainShare) return Limiter::kCompiling;
  const double unknown =
      path_share(Limiter::kNotInTrace) + ratio(evidence.unrecorded_ns, evidence.path_ns);
  const double idle_unknown = ratio(idle_ns(Limiter::kNotInTrace), evidence.window_ns);
  if (std::max(unknown, idle_unknown) >= kUnknownShare) return Limiter::kNotConclusive;
  if (ratio(evidence.compute_ns, evidence.window_ns) >= kBusyShare) return Limiter::kGpu;
  const StepWithout& retimed = evidence.retimed;
  const std::vector<Limiter> order = ordered_by_saving(retimed);
  const Limiter first = order[0];
  const Limiter second = order[1];
  const double saves = retimed.saves(first);
  const double next = retimed.saves(second);
  if (saves < kMinSaving) return Limiter::kMixed;
  // Without either, the other one takes over. What the device waits for longer is the limiter.
  const bool may_substitute =
      causes_idle_time(first) && causes_idle_time(second) && next >= kSubstituteShare * saves;
  if (may_substitute && 1 - without_ns(first, second) / retimed.ns < saves + next / 2) {
    return idle_ns(second) > idle_ns(first) ? second : first;
  }
  return saves < kMixedRatio * next ? Limiter::kMixed : first;
}

void Evidence::add(const Evidence& other) {
  for (size_t i = 0; i < kBounds; ++i) bounds[i] += other.bounds[i];
  path_ns += other.path_ns;
  retimed.add(other.retimed);
  window_ns += other.window_ns;
  compute_ns += other.compute_ns;
  for (size_t i = 0; i < kLimiters; ++i) idle[i] += other.idle[i];
  capture_ns += other.capture_ns;
  unrecorded_ns += other.unrecorded_ns;
}

}  // namespace epi::analysis
