// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/what_if.h"

#include <algorithm>
#include <unordered_set>

namespace epi::analysis {
namespace {

using trace::EventId;

// Beyond, advice is not timed: a step may have hundreds of groups to fuse, each worth next to
// nothing.
constexpr size_t kMaxTimed = 24;
// Of a step: what saves less is not worth a line.
constexpr double kWorthShare = 0.001;

struct Change {
  NewDurations durations;
  WithoutBounds without{};
};

void leave_out(Bound bound, Change& change) { change.without[static_cast<size_t>(bound)] = true; }

void scale(const TraceIndex& index, const std::vector<EventId>& events, double factor,
           Change& change) {
  for (const EventId id : events) {
    const auto now = static_cast<double>(index.trace.dur_ns[id]);
    change.durations[id] = std::max(1.0, now * factor);
  }
}

// The advice followed, as far as events of the trace can show it.
Change change_of(const TraceIndex& index, const Advice& advice) {
  Change change;
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
      const double all = device_time(index.trace, advice.events);
      if (all > 0) {
        scale(index, advice.events, std::max(0.0, 1 - advice.saving_ns.likely / all), change);
      }
      break;
    }
    case AdviceKind::kGraph:
      leave_out(Bound::kDispatch, change);
      leave_out(Bound::kLaunches, change);
      break;
    case AdviceKind::kSync:
      for (const EventId id : advice.events) change.durations[id] = 0;
      break;
    case AdviceKind::kGuards:
      scale(index, advice.events, 0.5, change);
      break;
    case AdviceKind::kCompiling:
      leave_out(Bound::kCompiling, change);
      break;
    case AdviceKind::kInput:
      leave_out(Bound::kInput, change);
      break;
    case AdviceKind::kBatch:
    case AdviceKind::kBreaks:
    case AdviceKind::kRecompiles:
      break;
  }
  return change;
}

void join(const Change& more, Change& all) {
  for (const auto& [event, ns] : more.durations) {
    const auto [place, is_new] = all.durations.try_emplace(event, ns);
    if (!is_new) place->second = std::min(place->second, ns);
  }
  for (size_t i = 0; i < kBounds; ++i) all.without[i] = all.without[i] || more.without[i];
}

// An estimate is never exact, nor does advice cost time; what is wider than the estimate on either
// side is a guess.
void tell_range(Advice& advice) {
  constexpr double kNarrowest = 0.1;  // on either side
  Estimate& saving = advice.saving_ns;
  if (saving.likely <= 0) return;
  saving.low = std::max(0.0, std::min(saving.low, (1 - kNarrowest) * saving.likely));
  const bool wide = saving.low <= 0 || saving.high - saving.likely > saving.likely;
  if (wide) advice.confidence = Confidence::kGuess;
}

void bound_by_step(Advice& advice) {
  Estimate& saving = advice.saving_ns;
  saving.high = std::min(saving.high, advice.step_saving_ns);
  saving.likely = std::min(saving.likely, advice.step_saving_ns);
  saving.low = std::min(saving.low, saving.likely);
}

}  // namespace

void time_again(const TraceIndex& index, const Diagnosis& diagnosis, std::vector<Advice>& advice) {
  std::stable_sort(advice.begin(), advice.end(), [](const Advice& a, const Advice& b) {
    return a.saving_ns.likely > b.saving_ns.likely;
  });
  const double step_ns =
      static_cast<double>(diagnosis.window_ns()) / static_cast<double>(diagnosis.judged);
  for (size_t i = 0; i < std::min(advice.size(), kMaxTimed); ++i) {
    const Change change = change_of(index, advice[i]);
    advice[i].step_saving_ns = diagnosis.saved_ns(change.durations, change.without);
    advice[i].is_timed = !change.durations.empty() || change.without != WithoutBounds{};
    if (advice[i].is_timed && !advice[i].on_device) bound_by_step(advice[i]);
  }
  std::erase_if(advice, [&](const Advice& one) {
    return one.kind == AdviceKind::kSync && one.step_saving_ns < kWorthShare * step_ns;
  });
  std::stable_sort(advice.begin(), advice.end(), [](const Advice& a, const Advice& b) {
    if (a.step_saving_ns != b.step_saving_ns) return a.step_saving_ns > b.step_saving_ns;
    return a.saving_ns.likely > b.saving_ns.likely;
  });
  std::unordered_set<EventId> taken;
  for (Advice& one : advice) {
    if (!one.on_device) continue;
    const auto again = std::count_if(one.events.begin(), one.events.end(),
                                     [&](EventId id) { return taken.contains(id); });
    one.overlaps = 2 * static_cast<size_t>(again) > one.events.size();
    taken.insert(one.events.begin(), one.events.end());
  }
  for (Advice& one : advice) tell_range(one);
  Change all;
  for (size_t i = 0; i < advice.size(); ++i) {
    // What is advised instead of something above is not followed as well.
    if (i < kMaxTimed && !advice[i].overlaps) join(change_of(index, advice[i]), all);
    advice[i].step_after_ns = i < kMaxTimed
                                  ? step_ns - diagnosis.saved_ns(all.durations, all.without)
                                  : advice[i - 1].step_after_ns;
  }
}

}  // namespace epi::analysis
