// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/instances.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "epilogue/trace/overlap.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

Interval host_interval(const trace::Trace& trace, EventId id) {
  return {trace.ts_ns[id], trace.end_ns(id)};
}

Instance with_owned(const TraceIndex& index, EventId id) {
  const Interval host = host_interval(index.trace, id);
  return {id, index.trace.name_of(id), host, index.ownership.owned(host.begin, host.end)};
}

// `ops` are in the order of the tree, which is by lane. An operator owns work of its lane only, so
// operators of other lanes do not count as overlapping.
std::vector<EventId> limit_per_lane(const TraceIndex& index, const std::vector<EventId>& ops) {
  std::vector<EventId> kept;
  for (size_t begin = 0; begin < ops.size();) {
    size_t end = begin;
    const auto lane_of = [&](size_t i) { return index.trace.lane[ops[i]]; };
    while (end < ops.size() && lane_of(end) == lane_of(begin)) ++end;
    const auto limited =
        trace::limit_overlap(index.trace, {ops.begin() + static_cast<std::ptrdiff_t>(begin),
                                           ops.begin() + static_cast<std::ptrdiff_t>(end)});
    kept.insert(kept.end(), limited.begin(), limited.end());
    begin = end;
  }
  if (kept.size() < ops.size()) index.limits.note(Limit::kNestedOperators);
  return kept;
}

// Maps an event to the operators that enclose it, among those of a group.
class EnclosingOperators {
 public:
  EnclosingOperators(const trace::OpTree& tree, const std::vector<EventId>& ops)
      : parents_(tree.parent.size(), kNoEvent), places_(tree.parent.size(), kNone) {
    for (size_t i = 0; i < ops.size(); ++i) places_[ops[i]] = i;
    // Parents come before their children, so each event finds its innermost operator in one step.
    for (const EventId id : tree.order) {
      const EventId parent = tree.parent[id];
      if (parent == kNoEvent) continue;
      parents_[id] = places_[parent] != kNone ? parent : parents_[parent];
    }
  }
  template <typename Add>
  void for_each(EventId from, Add&& add) const {
    for (EventId id = from; id != kNoEvent; id = parents_[id]) {
      if (places_[id] != kNone) add(places_[id]);
    }
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  std::vector<EventId> parents_;  // the innermost operator of the group around each event
  std::vector<size_t> places_;    // the number of an operator, by event
};

// The lists behind what an operator owns.
struct OwnedLists {
  std::vector<EventId> work;
  std::vector<EventId> launches;
  std::vector<EventId> lost;
  std::vector<EventId> syncs;
};

std::vector<OwnedLists> lists_of(const TraceIndex& index, const std::vector<EventId>& ops) {
  const EnclosingOperators enclosing(index.links.tree, ops);
  const Owned all = index.ownership.everything();
  std::vector<OwnedLists> lists(ops.size());
  for (const EventId id : all.work) {
    const EventId launch = index.links.launch[id];
    const EventId from = launch != kNoEvent ? launch : index.links.op[id];
    enclosing.for_each(from, [&](size_t i) { lists[i].work.push_back(id); });
  }
  const auto add_calls = [&](std::span<const EventId> calls, auto member) {
    for (const EventId id : calls) {
      enclosing.for_each(id, [&](size_t i) { (lists[i].*member).push_back(id); });
    }
  };
  add_calls(all.launches, &OwnedLists::launches);
  add_calls(all.lost, &OwnedLists::lost);
  add_calls(all.syncs, &OwnedLists::syncs);
  return lists;
}

InstanceGroup op_instances(const TraceIndex& index, std::string_view title,
                           const std::vector<bool>& is_named) {
  std::vector<EventId> ops;
  for (const EventId id : index.links.tree.order) {
    const bool is_op = index.trace.category[id] == Category::kCpuOp;
    if (is_op && is_named[index.trace.name[id]]) ops.push_back(id);
  }
  ops = limit_per_lane(index, ops);
  const auto lists = std::make_shared<const std::vector<OwnedLists>>(lists_of(index, ops));
  InstanceGroup group{std::string(title), {}, true, lists};
  for (size_t i = 0; i < ops.size(); ++i) {
    const OwnedLists& own = (*lists)[i];
    group.instances.push_back({ops[i],
                               index.trace.name_of(ops[i]),
                               host_interval(index.trace, ops[i]),
                               {own.work, own.launches, own.lost, own.syncs}});
  }
  return group;
}

}  // namespace

bool is_annotation(const trace::Trace& trace, EventId id) {
  return trace.is_span(id) && trace.category[id] == Category::kUserAnnotation;
}

InstanceGroup step_instances(const TraceIndex& index) {
  const StepMarks& marks = index.ownership.marks();
  InstanceGroup group{marks.name, {}};
  for (const EventId id : marks.events) group.instances.push_back(with_owned(index, id));
  return group;
}

InstanceGroup trace_instance(const TraceIndex& index) {
  const trace::Trace& trace = index.trace;
  Interval all{INT64_MAX, INT64_MIN};
  const auto add = [&](EventId id) {
    all = {std::min(all.begin, trace.ts_ns[id]), std::max(all.end, trace.end_ns(id))};
  };
  for (EventId id = 0; id < trace.size(); ++id) {
    const Category category = trace.category[id];
    const bool counts = trace::is_host(category) || trace::is_device_work(category);
    if (counts && trace.is_span(id)) add(id);
  }
  // Some programs mark steps with events that are neither.
  for (const EventId id : index.ownership.marks().events) add(id);
  if (all.begin > all.end) all = {};
  return {"trace", {{kNoEvent, "whole trace", all, index.ownership.everything()}}};
}

std::vector<InstanceGroup> annotation_instances(const TraceIndex& index) {
  const trace::Trace& trace = index.trace;
  const auto& steps = index.ownership.marks().events;
  const std::unordered_set<EventId> are_steps(steps.begin(), steps.end());
  std::vector<EventId> others;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (is_annotation(trace, id) && !are_steps.contains(id)) others.push_back(id);
  }
  std::vector<InstanceGroup> groups;
  std::unordered_map<trace::NameId, size_t> places;
  for (const EventId id : trace::limit_overlap(trace, std::move(others))) {
    const auto [place, is_new] = places.try_emplace(trace.name[id], groups.size());
    if (is_new) groups.push_back({std::string(trace.name_of(id)), {}});
    groups[place->second].instances.push_back(with_owned(index, id));
  }
  return groups;
}

InstanceGroup named_instances(const TraceIndex& index, std::string_view title,
                              const NameTest& is_named) {
  const trace::Trace& trace = index.trace;
  std::vector<bool> named(trace.names.size());
  for (trace::NameId name = 0; name < named.size(); ++name) {
    named[name] = is_named(trace.names[name]);
  }
  // Before PyTorch 1.13, steps are recorded as operators.
  const auto& steps = index.ownership.marks().events;
  const std::unordered_set<EventId> are_steps(steps.begin(), steps.end());
  std::vector<EventId> annotations;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!named[trace.name[id]]) continue;
    if (is_annotation(trace, id) || are_steps.contains(id)) annotations.push_back(id);
  }
  if (annotations.empty()) return op_instances(index, title, named);
  InstanceGroup group{std::string(title), {}};
  for (const EventId id : trace::limit_overlap(trace, std::move(annotations))) {
    group.instances.push_back(with_owned(index, id));
  }
  return group;
}

std::vector<EventId> host_events(const TraceIndex& index, EventId instance, const Interval& host,
                                 bool is_op) {
  const trace::Trace& trace = index.trace;
  std::vector<EventId> events;
  for (trace::LaneId lane = 0; lane < trace.lanes.size(); ++lane) {
    if (is_op && lane != trace.lane[instance]) continue;
    for (const EventId id : index.host_between(lane, host.begin, host.end)) {
      // Events that start exactly at the end are outside, except for a zero-length instance itself
      // and for the whole trace.
      const bool inside = trace.ts_ns[id] < host.end;
      if (inside || id == instance || instance == kNoEvent) events.push_back(id);
    }
  }
  return events;
}

}  // namespace epi::analysis
