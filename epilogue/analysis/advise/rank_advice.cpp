// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/rank_advice.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "epilogue/analysis/advise/step_changes.h"
#include "epilogue/analysis/index/device_name.h"

namespace epi::analysis {

const AdviceRow& row_of(AdviceKind kind) {
  static constexpr std::array kRows{
#define EPI_ADVICE(kind, key, title, short_title, effect, needs, adviser) \
  AdviceRow{Effect::effect, Needs::needs},
#include "epilogue/analysis/advise/advice.def"
#undef EPI_ADVICE
  };
  return kRows[static_cast<size_t>(kind)];
}

AdviceList find_advice(const AdviserInput& input) {
  using Adviser = AdviceList (*)(const AdviserInput&);
  static constexpr Adviser kAdvisers[] = {
#define EPI_ADVICE(kind, key, title, short_title, effect, needs, adviser) advise_##adviser,
#include "epilogue/analysis/advise/advice.def"
#undef EPI_ADVICE
  };
  AdviceList list;
  std::unordered_set<Adviser> asked;  // one may have several rows
  for (const Adviser adviser : kAdvisers) {
    if (!asked.insert(adviser).second) continue;
    for (Advice& one : adviser(input)) list.push_back(std::move(one));
  }
  return list;
}

namespace {

using trace::EventId;

// Only this much advice is re-timed. A step may have hundreds of groups to fuse, each with a
// negligible saving.
constexpr size_t kMaxTimed = 24;
// Smaller savings, as a share of the step, are dropped.
constexpr double kMinShare = 0.001;
// Places in kUnprofiledHosts.
constexpr size_t kLikely = 1;
constexpr size_t kAsRecorded = 2;

// The speed of other code on a CPU depends on its arithmetic, which a trace does not show.
void leave_out_gpu_estimates(AdviceList& list) {
  std::erase_if(list, [](const Advice& one) { return row_of(one.kind).needs == Needs::kGpu; });
  for (Advice& one : list) {
    if (row_of(one.kind).needs != Needs::kGpuEstimate) continue;
    one.removes_ns = {};
    std::erase_if(one.terms, [](const Term& term) {
      return term.what == Term::What::kWouldTake || term.what == Term::What::kMeasuredRate ||
             term.what == Term::What::kDataSheetRate;
    });
  }
}

// The step after changes, with and without the profiler.
class StepTimes {
 public:
  StepTimes(const AdviserInput& input, const AdviceList& list)
      : diagnosis_(*input.diagnosis), changes_(input.index, diagnosis_, list) {
    for (const HostSpeed& host : kUnprofiledHosts) before_ns_.push_back(after({}, host).ns);
  }

  double step_ns() const { return static_cast<double>(diagnosis_.step_ns()); }
  Diagnosis::After after(StepChange change, const HostSpeed& host = {}) const {
    set_host(host, change);
    return diagnosis_.after(change);
  }
  // With one of kUnprofiledHosts.
  double saved(const StepChange& change, size_t host) const {
    return before_ns_[host] - after(change, kUnprofiledHosts[host]).ns;
  }
  StepChange change_of(const Advice& advice, double share) const {
    return changes_.of(advice, share);
  }

  void set_saving(Advice& advice) const {
    switch (row_of(advice.kind).effect) {
      case Effect::kShortensWork:
        return set_work_saving(advice);
      case Effect::kRemovesWaits:
        return set_wait_saving(advice);
      case Effect::kOtherWork:
        advice.saving_ns = advice.removes_ns;
        advice.bound_ns = advice.removes_ns.high;
        return;
      case Effect::kShortensHost:  // only as far as the GPU waits for the host
        set_bounded_saving(advice);
        advice.saving_ns.likely =
            std::clamp(saved(change_of(advice, 1), kLikely), 0.0, advice.saving_ns.likely);
        return;
      default:
        return set_bounded_saving(advice);
    }
  }

 private:
  void set_bounded_saving(Advice& advice) const {
    advice.bound_ns = std::max(0.0, saved(change_of(advice, 1), kAsRecorded));
    advice.saving_ns = advice.removes_ns;
  }

  // Without a profiler the host is faster, so GPU work has more weight.
  void set_work_saving(Advice& advice) const {
    double all_ns = 0;
    for (const EventId id : advice.events) all_ns += duration_ns(id);
    const Estimate& removes = advice.removes_ns;
    // With the work, its gaps and its operators go away.
    advice.bound_ns = advice.host_events.empty() ? std::clamp(removes.high, 0.0, all_ns)
                                                 : std::max(removes.high, 0.0);
    if (all_ns <= 0 || removes.likely <= 0) return;
    const StepChange change = change_of(advice, removes.likely / all_ns);
    std::array<double, 3> savings{};
    for (size_t i = 0; i < savings.size(); ++i) savings[i] = saved(change, i);
    const auto [least, most] = std::minmax_element(savings.begin(), savings.end());
    advice.saving_ns = {*least * removes.low / removes.likely, savings[kLikely],
                        *most * removes.high / removes.likely};
    advice.profiled_saving_ns = removes.scaled(savings[kAsRecorded] / removes.likely);
  }

  void set_wait_saving(Advice& advice) const {
    const StepChange change = change_of(advice, 1);
    const auto saved_in_sequence = [&](const HostSpeed& host) {
      StepChange before;
      set_host(host, before);
      StepChange after = change;
      set_host(host, after);
      return diagnosis_.ns_in_sequence(before) - diagnosis_.ns_in_sequence(after);
    };
    std::array<double, 3> savings{};
    for (size_t i = 0; i < savings.size(); ++i) {
      savings[i] = saved_in_sequence(kUnprofiledHosts[i]);
    }
    // A thread that waited also has to wake up, which a trace does not show. Measured in pairs of
    // recordings on an H200, see docs/advise.md.
    constexpr Estimate kActual = {0.4, 1.5, 2.5};
    const auto [least, most] = std::minmax_element(savings.begin(), savings.end());
    advice.saving_ns = {kActual.low * *least, kActual.likely * savings[1], kActual.high * *most};
    // At most the time of the calls plus the idle time after them.
    for (const Term& term : advice.terms) {
      const bool counts = term.what == Term::What::kCpuWaits || term.what == Term::What::kIdleAfter;
      if (counts) advice.bound_ns += term.value;
    }
  }

  double duration_ns(EventId id) const { return changes_.duration_ns(id); }

  const Diagnosis& diagnosis_;
  StepChanges changes_;
  std::vector<double> before_ns_;  // by place in kUnprofiledHosts
};

// Whether following the advice leaves the GPU less to do. Otherwise a step stays as long as the
// GPU is busy in it.
bool shortens_busy_time(const Advice& advice) {
  const Effect effect = row_of(advice.kind).effect;
  return effect == Effect::kShortensWork || effect == Effect::kRemovesCommunication ||
         effect == Effect::kOtherWork;
}

// The constants of the estimates come from one kind of GPU. How far others differ is a guess.
void widen(Estimate& saving) {
  constexpr double kMore = 1.3;
  saving.low /= kMore;
  saving.high *= kMore;
}

// Keeps the saving between 0 and its bound, and widens the range to a minimum, because an estimate
// is never exact.
void limit_saving(const Diagnosis& diagnosis, Advice& advice) {
  constexpr double kMinSpread = 0.1;  // below the estimate
  const StepModel& step = diagnosis.step;
  const int64_t rest_ns = shortens_busy_time(advice) ? 0 : step.busy_ns;
  advice.bound_ns = std::min(advice.bound_ns, static_cast<double>(step.step_ns - rest_ns));
  Estimate& saving = advice.saving_ns;
  saving.high = std::clamp(saving.high, 0.0, advice.bound_ns);
  saving.likely = std::clamp(saving.likely, 0.0, saving.high);
  saving.low = std::clamp(saving.low, 0.0, (1 - kMinSpread) * saving.likely);
  Estimate& profiled = advice.profiled_saving_ns;
  profiled.high = std::clamp(profiled.high, 0.0, advice.bound_ns);
  profiled.likely = std::clamp(profiled.likely, 0.0, profiled.high);
  profiled.low = std::clamp(profiled.low, 0.0, profiled.likely);
  const bool is_wide = saving.low <= 0 || saving.high - saving.likely > saving.likely;
  if (saving.likely > 0 && is_wide) advice.confidence = Confidence::kNotConclusive;
}

void mark_alternatives(AdviceList& list) {
  std::unordered_set<EventId> taken;
  for (Advice& one : list) {
    if (!is_about_work(one.kind)) continue;
    const auto shared = std::count_if(one.events.begin(), one.events.end(),
                                      [&](EventId id) { return taken.contains(id); });
    one.is_alternative = 2 * static_cast<size_t>(shared) > one.events.size();
    taken.insert(one.events.begin(), one.events.end());
  }
}

// The share of the effect that the estimate assumes, for work; for waiting, all of it.
double likely_share(const TraceIndex& index, const Advice& advice) {
  if (!is_about_work(advice.kind)) return 1;
  const double all_ns = device_time(index.trace, advice.events);
  return all_ns <= 0 ? 0 : advice.removes_ns.likely / all_ns;
}

// The step after this and all earlier advice. What the graph says that advice saves after the
// others is scaled by what its estimate is of what the graph says that it saves alone.
void set_steps_after(const AdviserInput& input, const StepTimes& times, AdviceList& list) {
  const HostSpeed& host = kUnprofiledHosts[kLikely];
  double step_ns = times.step_ns();
  double busy_ns = static_cast<double>(input.diagnosis->step.busy_ns);
  StepChange all;
  Diagnosis::After before = times.after(all, host);
  Limiter limiter = times.after(all).limiter;
  for (size_t i = 0; i < list.size(); ++i) {
    Advice& one = list[i];
    const StepChange change = times.change_of(one, likely_share(input.index, one));
    if (i < kMaxTimed && !change.is_none() && !one.is_alternative) {
      const double alone_ns = times.saved(change, kLikely);
      merge(change, all);
      const Diagnosis::After after = times.after(all, host);
      if (alone_ns > 0) {
        const double graph_ns = before.ns - after.ns;
        const double most =
            shortens_busy_time(one)
                ? one.bound_ns
                : std::max(one.saving_ns.likely, std::min(graph_ns, step_ns - busy_ns));
        step_ns -= std::clamp(one.saving_ns.likely * graph_ns / alone_ns, 0.0, most);
      }
      before = after;
      // The graph's path is that after the whole effect. Most of the step must be on it.
      const Diagnosis::After recorded = times.after(all);
      if (2 * recorded.ns >= step_ns) limiter = recorded.limiter;
      if (shortens_busy_time(one)) busy_ns -= one.removes_ns.likely;
    }
    one.step_after_ns = std::max({0.0, busy_ns, step_ns});
    one.then_limited_by = limiter;
  }
}

}  // namespace

void rank_advice(const AdviserInput& input, bool cpu_kernels, AdviceList& list) {
  if (cpu_kernels) leave_out_gpu_estimates(list);
  if (!input.diagnosis) {
    for (Advice& one : list) one.bound_ns = one.removes_ns.high;
    return;
  }
  std::stable_sort(list.begin(), list.end(), [](const Advice& a, const Advice& b) {
    return a.removes_ns.likely > b.removes_ns.likely;
  });
  const StepTimes times(input, list);
  const bool is_measured = is_measured_gpu(device_name(input.index.trace));
  for (size_t i = 0; i < std::min(list.size(), kMaxTimed); ++i) {
    list[i].is_estimated = list[i].removes_ns.high > 0;
    times.set_saving(list[i]);
    if (!is_measured) widen(list[i].saving_ns);
    limit_saving(*input.diagnosis, list[i]);
  }
  std::erase_if(list, [&](const Advice& one) {
    return one.kind == AdviceKind::kSync && one.saving_ns.likely < kMinShare * times.step_ns();
  });
  std::stable_sort(list.begin(), list.end(), [](const Advice& a, const Advice& b) {
    return a.saving_ns.likely > b.saving_ns.likely;
  });
  mark_alternatives(list);
  set_steps_after(input, times, list);
}

}  // namespace epi::analysis
