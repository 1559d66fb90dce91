// SPDX-License-Identifier: Apache-2.0
// The figures of a diagnosis. diagnoser.cpp makes it.
#include "epilogue/analysis/step/diagnosis.h"

#include "epilogue/analysis/step/verdict_rules.h"

namespace epi::analysis {
namespace {

int64_t unexplained_ns(const std::vector<IdleGap>& gaps) {
  int64_t sum = 0;
  for (const IdleGap& gap : gaps) {
    const bool counts = gap.cause == IdleCause::kNotInTrace || gap.cause == IdleCause::kNoLaunch;
    if (counts) sum += gap.ns();
  }
  return sum;
}

}  // namespace

bool is_cut(const trace::Trace& trace) {
  return trace.defects.of(trace::Defect::kTruncated) +
             trace.defects.of(trace::Defect::kBrokenCompression) >
         0;
}

double Diagnosis::share(Bound bound) const {
  return ratio(bounds[static_cast<size_t>(bound)], analyzed_ns());
}

int64_t Diagnosis::ns(Limiter one) const {
  return one <= Limiter::kNotInTrace ? by_limiter(bounds)[static_cast<size_t>(one)] : 0;
}

double Diagnosis::share(Limiter one) const { return ratio(ns(one), analyzed_ns()); }

namespace {

// Dispatch and other host work are both host-bound.
Limiter group_of(Limiter limiter) {
  return limiter == Limiter::kHostWork ? Limiter::kHost : limiter;
}

}  // namespace

std::vector<StepVerdict> Diagnosis::differing() const {
  std::vector<StepVerdict> others;
  std::copy_if(judged.begin(), judged.end(), std::back_inserter(others),
               [&](const StepVerdict& one) { return group_of(one.limiter) != group_of(limiter); });
  return others;
}

bool Diagnosis::is_compute_measured() const {
  int64_t all_ns = 0;
  int64_t measured_ns = 0;
  for (const PathPart& part : path) {
    if (part.bound != Bound::kCompute) continue;
    all_ns += part.end_ns - part.begin_ns;
    if (part.is_measured) measured_ns += part.end_ns - part.begin_ns;
  }
  return 2 * measured_ns > all_ns;
}

Diagnosis::After Diagnosis::after(const StepChange& change) const {
  const RetimedStep changed = graph->retimed(change);
  int64_t before_ns = graph->window_ns();
  int64_t after_ns = changed.window_ns;
  if (first_graph != nullptr && first_graph->window_ns() < before_ns) {
    before_ns -= first_graph->window_ns();
    after_ns -= first_graph->retimed(change).window_ns;
  }
  return {static_cast<double>(step.step_ns) * ratio(after_ns, before_ns),
          static_cast<Limiter>(largest_place(by_limiter(changed.bounds)))};
}

double Diagnosis::ns_in_sequence(const StepChange& change) const {
  if (sequence == nullptr) return after(change).ns;
  return static_cast<double>(sequence->retimed(change).window_ns) /
         static_cast<double>(sequence_count);
}

int64_t Diagnosis::host_idle_ns() const {
  int64_t sum = 0;
  for (const IdleGap& gap : gaps) {
    if (limiter_of(gap) == Limiter::kHost) sum += gap.ns();
  }
  return sum;
}

double Diagnosis::unexplained_share() const {
  return std::max(share(Limiter::kNotInTrace),
                  ratio(unexplained_ns(clipped(gaps, analyzed)), analyzed_ns()));
}

std::vector<Limiter> Diagnosis::largest() const {
  const LimiterTimes times = by_limiter(bounds);
  std::vector<Limiter> order;
  for (size_t i = 0; i < kLimiters; ++i) {
    if (times[i] > 0) order.push_back(static_cast<Limiter>(i));
  }
  std::stable_sort(order.begin(), order.end(), [&](Limiter a, Limiter b) {
    return times[static_cast<size_t>(a)] > times[static_cast<size_t>(b)];
  });
  return order;
}

std::vector<Limiter> Diagnosis::by_saving() const { return ordered_by_saving(retimed); }

Bound Diagnosis::bound() const {
  BoundTimes own = bounds;
  for (size_t i = 0; i < kBounds; ++i) {
    const bool counts = limiter >= Limiter::kMixed || limiter_of(static_cast<Bound>(i)) == limiter;
    if (!counts) own[i] = -1;
  }
  return static_cast<Bound>(largest_place(own));
}

}  // namespace epi::analysis
