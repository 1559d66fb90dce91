// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/subject.h"

#include <algorithm>

#include "epilogue/trace/overlap.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

Subject with_owned(const TraceIndex& index, InstanceGroup group) {
  Subject subject;
  for (const Instance& instance : group.instances) {
    subject.owned.push_back(instance.event == kNoEvent
                                ? index.ownership.everything()
                                : index.ownership.owned(instance.begin_ns, instance.end_ns));
  }
  subject.group = std::move(group);
  return subject;
}

Instance make_instance(const TraceIndex& index, EventId id) {
  const trace::Trace& trace = index.trace;
  return {id, std::string(trace.name_of(id)), trace.ts_ns[id], trace.end_ns(id), {}, false};
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
  if (kept.size() < ops.size()) index.trace.defects.note(trace::Defect::kNestedSubject);
  return kept;
}

// Maps an event to the instances that enclose it.
class EnclosingInstances {
 public:
  EnclosingInstances(const trace::OpTree& tree, const InstanceGroup& group)
      : parents_(tree.parent.size(), kNoEvent), places_(tree.parent.size(), kNone) {
    for (size_t i = 0; i < group.instances.size(); ++i) places_[group.instances[i].event] = i;
    // Parents come before their children, so each event finds its innermost instance in one step.
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
  std::vector<EventId> parents_;  // the innermost instance around each event
  std::vector<size_t> places_;    // the number of an instance, by event
};

void assign_owned(const TraceIndex& index, Subject& subject) {
  const EnclosingInstances enclosing(index.links.tree, subject.group);
  const Owned all = index.ownership.everything();
  subject.owned.resize(subject.group.instances.size());
  for (const EventId id : all.work) {
    const EventId launch = index.links.launch[id];
    const EventId from = launch != kNoEvent ? launch : index.links.op[id];
    enclosing.for_each(from, [&](size_t i) { subject.owned[i].work.push_back(id); });
  }
  for (const EventId id : all.launches) {
    enclosing.for_each(id, [&](size_t i) { subject.owned[i].launches.push_back(id); });
  }
  for (const EventId id : all.syncs) {
    enclosing.for_each(id, [&](size_t i) { subject.owned[i].syncs.push_back(id); });
  }
}

Subject op_subject(const TraceIndex& index, std::string_view title,
                   const std::vector<bool>& named) {
  Subject subject;
  subject.of_ops = true;
  subject.group.name = title;
  std::vector<EventId> ops;
  for (const EventId id : index.links.tree.order) {
    const Category category = index.trace.category[id];
    if (named[index.trace.name[id]] && category == Category::kCpuOp) ops.push_back(id);
  }
  for (const EventId id : limit_per_lane(index, ops)) {
    subject.group.instances.push_back(make_instance(index, id));
  }
  assign_owned(index, subject);
  for (size_t i = 0; i < subject.owned.size(); ++i) {
    Instance& instance = subject.group.instances[i];
    instance.measures =
        index.ownership.measure(instance.begin_ns, instance.end_ns, subject.owned[i]);
  }
  return subject;
}

}  // namespace

Subject step_subject(const TraceIndex& index) {
  Subject marked = with_owned(index, steps(index.trace, index.ownership));
  const bool any = std::any_of(marked.owned.begin(), marked.owned.end(),
                               [](const Owned& owned) { return !owned.work.empty(); });
  // If the trace has no launch inside the steps, only the whole trace owns the device work.
  if (any || index.ownership.everything().work.empty()) return marked;
  return trace_subject(index);
}

Subject trace_subject(const TraceIndex& index) {
  return with_owned(index, {"trace", {whole_trace(index.trace, index.ownership)}});
}

Subject named_subject(const TraceIndex& index, std::string_view title, const NameTest& is_named) {
  std::vector<bool> named(index.trace.names.size());
  for (trace::NameId name = 0; name < named.size(); ++name) {
    named[name] = is_named(index.trace.names[name]);
  }
  InstanceGroup group{std::string(title), {}};
  std::vector<EventId> annotations;
  for (EventId id = 0; id < index.trace.size(); ++id) {
    if (named[index.trace.name[id]] && is_annotation(index.trace, id)) annotations.push_back(id);
  }
  for (const EventId id : trace::limit_overlap(index.trace, std::move(annotations))) {
    group.instances.push_back(make_instance(index, id));
    Instance& instance = group.instances.back();
    instance.measures = index.ownership.measure(instance.begin_ns, instance.end_ns);
  }
  if (group.instances.empty()) return op_subject(index, title, named);
  return with_owned(index, std::move(group));
}

Subject named_subject(const TraceIndex& index, std::string_view name) {
  return named_subject(index, name, [&](std::string_view other) { return other == name; });
}

std::vector<Subject> annotation_subjects(const TraceIndex& index) {
  std::vector<Subject> subjects;
  for (InstanceGroup& group : annotations(index.trace, index.ownership)) {
    subjects.push_back(with_owned(index, std::move(group)));
  }
  return subjects;
}

std::vector<EventId> host_events(const TraceIndex& index, const Subject& subject, size_t instance) {
  const Instance& wanted = subject.group.instances[instance];
  const trace::Trace& trace = index.trace;
  std::vector<EventId> events;
  for (trace::LaneId lane = 0; lane < trace.lanes.size(); ++lane) {
    if (subject.of_ops && lane != trace.lane[wanted.event]) continue;
    for (const EventId id : index.host_between(lane, wanted.begin_ns, wanted.end_ns)) {
      // Events that start exactly at the end are outside, except for a zero-length instance itself
      // and for the whole trace.
      const bool inside = trace.ts_ns[id] < wanted.end_ns;
      if (inside || id == wanted.event || wanted.event == kNoEvent) events.push_back(id);
    }
  }
  return events;
}

}  // namespace epi::analysis
