// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/what_if.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

namespace epi::analysis {
namespace {

using trace::EventId;

// Only this many pieces of advice are timed. A step may have hundreds of groups to fuse, each with
// a negligible saving.
constexpr size_t kMaxTimed = 24;
// Smaller savings, as a share of the step, are dropped.
constexpr double kMinShare = 0.001;

void scale_bound(Bound bound, double scale, StepChange& change) {
  change.scale[static_cast<size_t>(bound)] = scale;
}

void scale_host(double scale, StepChange& change) {
  for (const Bound bound : {Bound::kDispatch, Bound::kLaunches, Bound::kAllocating}) {
    scale_bound(bound, scale, change);
  }
}

void merge(const StepChange& more, StepChange& all) {
  for (const auto& [event, ns] : more.durations) {
    const auto [place, is_new] = all.durations.try_emplace(event, ns);
    if (!is_new) place->second = std::min(place->second, ns);
  }
  for (size_t i = 0; i < kBounds; ++i) all.scale[i] = std::min(all.scale[i], more.scale[i]);
}

// Translates advice into changes of the diagnosed steps.
class Changes {
 public:
  Changes(const TraceIndex& index, const Diagnosis& diagnosis, const Owned& owned,
          const std::vector<Advice>& advice)
      : index_(index) {
    Interval window = diagnosis.sequence != nullptr ? diagnosis.sequence_window : diagnosis.window;
    window.begin -= diagnosis.clipped_ns;
    if (diagnosis.judged <= 1 && diagnosis.sequence == nullptr) return;
    // Advice names the events of one step. Events of the same name in the other steps change with
    // them.
    std::unordered_set<EventId> own(owned.work.begin(), owned.work.end());
    own.insert(owned.syncs.begin(), owned.syncs.end());
    for (const Advice& one : advice) {
      own.insert(one.events.begin(), one.events.end());
      for (const EventId id : one.events) by_name_[index.trace.name[id]];
    }
    for (EventId id = 0; id < index.trace.size(); ++id) {
      const auto place = by_name_.find(index.trace.name[id]);
      if (place == by_name_.end() || !index.trace.is_span(id)) continue;
      if (own.contains(id)) {
        place->second.own_ns += static_cast<double>(index.trace.dur_ns[id]);
        continue;
      }
      // Work launched by a step before the window does not belong to these steps.
      const EventId launch = index.links.launch[id];
      const bool is_work = trace::is_device_work(index.trace.category[id]);
      if (is_work && launch == trace::kNoEvent) continue;
      const int64_t launched_ns = index.trace.ts_ns[is_work ? launch : id];
      if (launched_ns >= window.begin && launched_ns < window.end)
        place->second.others.push_back(id);
    }
  }

  StepChange of(const Advice& advice) const {
    StepChange change;
    switch (advice.kind) {
      case AdviceKind::kFuse:
      case AdviceKind::kRegenerate:
      case AdviceKind::kGatedMlp:
      case AdviceKind::kPageable:
      case AdviceKind::kTensorCores:
      case AdviceKind::kAlignment:
      case AdviceKind::kCopies:
      case AdviceKind::kAddmm:
      case AdviceKind::kAttention:
      case AdviceKind::kWaves: {
        const double all = device_time(index_.trace, advice.events);
        if (all > 0) {
          scale_events(advice.events, std::max(0.0, 1 - advice.saving_ns.likely / all), change);
        }
        break;
      }
      case AdviceKind::kGraph:
        scale_bound(Bound::kDispatch, 0, change);
        scale_bound(Bound::kLaunches, 0, change);
        break;
      case AdviceKind::kSync:
        remove(advice.events, change);
        break;
      case AdviceKind::kGuards:
        scale_events(advice.events, 0.5, change);
        break;
      case AdviceKind::kCompiling:
        scale_bound(Bound::kCompiling, 0, change);
        break;
      case AdviceKind::kInput:
        scale_bound(Bound::kInput, 0, change);
        break;
      case AdviceKind::kAllocation:
        scale_bound(Bound::kAllocating, 0, change);
        break;
      case AdviceKind::kOverlap:
        scale_bound(Bound::kCommunication, 0, change);
        break;
      case AdviceKind::kBatch:
      case AdviceKind::kBreaks:
      case AdviceKind::kRecompiles:
        break;
    }
    return change;
  }

 private:
  struct SameName {
    double own_ns = 0;  // in the step that the advice is about
    std::vector<EventId> others;
  };

  void scale_events(const std::vector<EventId>& events, double factor, StepChange& change) const {
    std::unordered_map<trace::NameId, double> saved_ns;
    for (const EventId id : events) {
      const auto now = static_cast<double>(index_.trace.dur_ns[id]);
      change.durations[id] = std::max(1.0, now * factor);
      saved_ns[index_.trace.name[id]] += now * (1 - factor);
    }
    for (const auto& [name, saved] : saved_ns) {
      const auto place = by_name_.find(name);
      if (place == by_name_.end() || place->second.own_ns <= 0) continue;
      const double left = std::max(0.0, 1 - saved / place->second.own_ns);
      for (const EventId id : place->second.others) {
        change.durations[id] = std::max(1.0, static_cast<double>(index_.trace.dur_ns[id]) * left);
      }
    }
  }

  std::string_view op_of(EventId id) const {
    const EventId op = index_.links.op[id];
    const bool is_op =
        op != trace::kNoEvent && index_.trace.category[op] == trace::Category::kCpuOp;
    return is_op ? index_.trace.name_of(op) : std::string_view();
  }

  void remove(const std::vector<EventId>& events, StepChange& change) const {
    for (const EventId id : events) {
      change.durations[id] = 0;
      const auto place = by_name_.find(index_.trace.name[id]);
      if (place == by_name_.end()) continue;
      for (const EventId other : place->second.others) {
        if (op_of(other) == op_of(id)) change.durations[other] = 0;
      }
    }
  }

  const TraceIndex& index_;
  std::unordered_map<trace::NameId, SameName> by_name_;
};

// Widens the range to a minimum, because an estimate is never exact. Keeps it above 0, because
// advice never costs time.
void widen_range(Advice& advice) {
  constexpr double kMinSpread = 0.1;  // on either side
  Estimate& saving = advice.saving_ns;
  if (saving.likely <= 0) return;
  saving.low = std::max(0.0, std::min(saving.low, (1 - kMinSpread) * saving.likely));
  const bool wide = saving.low <= 0 || saving.high - saving.likely > saving.likely;
  if (wide) advice.confidence = Confidence::kNotConclusive;
}

void bound_by(double ns, Advice& advice) {
  Estimate& saving = advice.saving_ns;
  saving.high = std::min(saving.high, ns);
  saving.likely = std::min(saving.likely, ns);
  saving.low = std::min(saving.low, saving.likely);
}

// Without a profiler the host is faster, so waiting for the device has more weight.
void set_sync_saving(const Diagnosis& diagnosis, const StepChange& change, Advice& advice) {
  const auto saved = [&](double host) {
    StepChange before;
    scale_host(host, before);
    StepChange after = change;
    scale_host(host, after);
    return diagnosis.ns_in_sequence(before) - diagnosis.ns_in_sequence(after);
  };
  const std::array<double, 3> savings = {saved(kUnprofiledHost.low), saved(kUnprofiledHost.likely),
                                         saved(kUnprofiledHost.high)};
  // A thread that waited also has to wake up, which a trace does not show. Measured in pairs of
  // recordings on an H200, see docs/advise.md.
  constexpr Estimate kActual = {0.4, 1.5, 2.5};
  advice.saving_ns = {kActual.low * *std::min_element(savings.begin(), savings.end()),
                      kActual.likely * savings[1],
                      kActual.high * *std::max_element(savings.begin(), savings.end())};
  // The saving is at most the time of the calls plus the idle time after them.
  double removed_ns = 0;
  for (const Term& term : advice.terms) {
    const bool counts = term.what == Term::What::kCpuWaits || term.what == Term::What::kIdleAfter;
    if (counts) removed_ns += term.value;
  }
  bound_by(removed_ns, advice);
}

void mark_overlaps(std::vector<Advice>& advice) {
  std::unordered_set<EventId> taken;
  for (Advice& one : advice) {
    if (!one.on_device) continue;
    const auto shared = std::count_if(one.events.begin(), one.events.end(),
                                      [&](EventId id) { return taken.contains(id); });
    one.overlaps = 2 * static_cast<size_t>(shared) > one.events.size();
    taken.insert(one.events.begin(), one.events.end());
  }
}

}  // namespace

void time_advice(const TraceIndex& index, const Diagnosis& diagnosis, const Owned& owned,
                 std::vector<Advice>& advice) {
  std::stable_sort(advice.begin(), advice.end(), [](const Advice& a, const Advice& b) {
    return a.saving_ns.likely > b.saving_ns.likely;
  });
  const Changes changes(index, diagnosis, owned, advice);
  const double step_ns =
      static_cast<double>(diagnosis.window_ns()) / static_cast<double>(diagnosis.judged);
  for (size_t i = 0; i < std::min(advice.size(), kMaxTimed); ++i) {
    const StepChange change = changes.of(advice[i]);
    advice[i].is_timed = !change.is_none();
    if (!advice[i].is_timed) continue;
    advice[i].step_saving_ns = std::max(0.0, step_ns - diagnosis.after(change).ns);
    if (advice[i].kind == AdviceKind::kSync) {
      set_sync_saving(diagnosis, change, advice[i]);
    } else if (!advice[i].on_device) {
      bound_by(advice[i].step_saving_ns, advice[i]);
    }
  }
  std::erase_if(advice, [&](const Advice& one) {
    return one.kind == AdviceKind::kSync && one.saving_ns.likely < kMinShare * step_ns;
  });
  std::stable_sort(advice.begin(), advice.end(), [](const Advice& a, const Advice& b) {
    if (a.step_saving_ns != b.step_saving_ns) return a.step_saving_ns > b.step_saving_ns;
    return a.saving_ns.likely > b.saving_ns.likely;
  });
  mark_overlaps(advice);
  for (Advice& one : advice) widen_range(one);
  StepChange all;
  Diagnosis::After after = diagnosis.after(all);
  for (size_t i = 0; i < advice.size(); ++i) {
    // Advice that overlaps earlier advice is an alternative to it, so it is not applied as well.
    if (i < kMaxTimed && advice[i].is_timed && !advice[i].overlaps) {
      merge(changes.of(advice[i]), all);
      after = diagnosis.after(all);
    }
    advice[i].step_after_ns = after.ns;
    advice[i].then_limited_by = after.limiter;
  }
}

}  // namespace epi::analysis
