// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/step_changes.h"

#include <algorithm>
#include <unordered_set>

namespace epi::analysis {

using trace::EventId;

namespace {

void scale_bound(Bound bound, double scale, StepChange& change) {
  change.scale[static_cast<size_t>(bound)] = scale;
}

}  // namespace

void set_host(const HostSpeed& host, StepChange& change) {
  for (const Bound bound : {Bound::kDispatch, Bound::kLaunches, Bound::kAllocating}) {
    double& current = change.scale[static_cast<size_t>(bound)];
    current = std::min(current, host.in_ops);
  }
  change.outside_ops = std::min(change.outside_ops, host.outside_ops);
}

void merge(const StepChange& more, StepChange& all) {
  for (const auto& [event, ns] : more.durations) {
    const auto [place, is_new] = all.durations.try_emplace(event, ns);
    if (!is_new) place->second = std::min(place->second, ns);
  }
  for (size_t i = 0; i < kBounds; ++i) all.scale[i] = std::min(all.scale[i], more.scale[i]);
  all.outside_ops = std::min(all.outside_ops, more.outside_ops);
}

StepChanges::StepChanges(const TraceIndex& index, const Diagnosis& diagnosis,
                         const std::vector<Advice>& advice)
    : index_(index) {
  if (!diagnosis.spans_steps && diagnosis.sequence == nullptr) return;
  const Interval host =
      diagnosis.sequence != nullptr ? diagnosis.sequence_host : diagnosis.graph_host;
  const Owned& owned = diagnosis.step.owned;
  std::unordered_set<EventId> own(owned.work.begin(), owned.work.end());
  own.insert(owned.syncs.begin(), owned.syncs.end());
  for (const Advice& one : advice) {
    own.insert(one.events.begin(), one.events.end());
    for (const EventId id : one.events) by_name_[index.trace.name[id]];
    for (const EventId id : one.host_events) by_name_[index.trace.name[id]];
  }
  for (EventId id = 0; id < index.trace.size(); ++id) {
    const auto place = by_name_.find(index.trace.name[id]);
    if (place == by_name_.end() || !index.trace.is_span(id)) continue;
    const bool is_work = trace::is_device_work(index.trace.category[id]);
    const bool is_own = is_work ? own.contains(id)
                                : index.trace.ts_ns[id] >= diagnosis.step.host.begin &&
                                      index.trace.ts_ns[id] < diagnosis.step.host.end;
    if (is_own) {
      place->second.own_ns += static_cast<double>(index.trace.dur_ns[id]);
      continue;
    }
    // Work that earlier steps launched does not belong to these steps.
    const EventId launch = index.links.launch[id];
    if (is_work && launch == trace::kNoEvent) continue;
    const int64_t launched_ns = index.trace.ts_ns[is_work ? launch : id];
    if (launched_ns >= host.begin && launched_ns < host.end) place->second.others.push_back(id);
  }
}

StepChange StepChanges::of(const Advice& advice, double share) const {
  StepChange change;
  switch (row_of(advice.kind).effect) {
    case Effect::kShortensWork:
    case Effect::kShortensHost:
      shorten(advice.events, share, change);
      remove(advice.host_events, change);
      break;
    case Effect::kRemovesWaits:
      remove_waits(advice.events, change);
      break;
    case Effect::kRemovesLaunches:
      scale_bound(Bound::kDispatch, 1 - share, change);
      scale_bound(Bound::kLaunches, 1 - share, change);
      break;
    case Effect::kRemovesCompilation:
      scale_bound(Bound::kCompiling, 1 - share, change);
      break;
    case Effect::kRemovesLoading:
      scale_bound(Bound::kInput, 1 - share, change);
      break;
    case Effect::kRemovesAllocation:
      scale_bound(Bound::kAllocating, 1 - share, change);
      break;
    case Effect::kRemovesCommunication:
      scale_bound(Bound::kCommunication, 1 - share, change);
      break;
    case Effect::kOtherWork:
      break;
  }
  return change;
}

void StepChanges::shorten(const std::vector<EventId>& events, double share,
                          StepChange& change) const {
  const double factor = std::clamp(1 - share, 0.0, 1.0);
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

// In other steps, events of the same name become shorter on average.
void StepChanges::remove(const std::vector<EventId>& events, StepChange& change) const {
  shorten(events, 1, change);
  for (const EventId id : events) change.durations[id] = 0;
}

std::string_view StepChanges::op_of(EventId id) const {
  const EventId op = index_.links.op[id];
  const bool is_op = op != trace::kNoEvent && index_.trace.category[op] == trace::Category::kCpuOp;
  return is_op ? index_.trace.name_of(op) : std::string_view();
}

void StepChanges::remove_waits(const std::vector<EventId>& events, StepChange& change) const {
  for (const EventId id : events) {
    change.durations[id] = 0;
    const auto place = by_name_.find(index_.trace.name[id]);
    if (place == by_name_.end()) continue;
    for (const EventId other : place->second.others) {
      if (op_of(other) == op_of(id)) change.durations[other] = 0;
    }
  }
}

}  // namespace epi::analysis
