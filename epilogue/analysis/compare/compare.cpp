// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/compare/compare.h"

#include <algorithm>
#include <map>

#include "epilogue/analysis/compare/compare_kernels.h"
#include "epilogue/analysis/index/subject.h"
#include "epilogue/base/error.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/step_name.h"

namespace epi::analysis {
namespace {

using trace::EventId;

Side make_side(const TraceIndex& index, const Subject& subject, size_t typical) {
  Side side;
  side.instances = static_cast<int64_t>(subject.group.instances.size());
  side.median = median_measures(subject.group);
  side.bytes = moved_bytes(index.trace, index.links, subject.owned[typical].work);
  return side;
}

// Lists names in order of first occurrence in A, then in B.
void compare_host(const TraceIndex& a, const std::vector<EventId>& a_events, const TraceIndex& b,
                  const std::vector<EventId>& b_events, GroupComparison& group) {
  std::vector<HostChange> changes;
  std::map<std::string_view, size_t> places;
  const auto change_of = [&](std::string_view name) -> HostChange& {
    // Step names contain their number, so all of them count under one name.
    if (trace::is_step_name(name)) name = trace::kAllSteps;
    const auto [place, is_new] = places.try_emplace(name, changes.size());
    if (is_new) changes.push_back({std::string(name)});
    return changes[place->second];
  };
  for (const EventId id : a_events) ++change_of(a.trace.name_of(id)).a;
  for (const EventId id : b_events) ++change_of(b.trace.name_of(id)).b;
  for (HostChange& change : changes) {
    auto& list = change.a == change.b ? group.host_same
                 : change.a == 0      ? group.host_added
                 : change.b == 0      ? group.host_gone
                                      : group.host_changed;
    list.push_back(std::move(change));
  }
}

GroupComparison compare_group(const TraceIndex& a, const Subject& a_subject, const TraceIndex& b,
                              const Subject& b_subject) {
  GroupComparison group;
  group.name = a_subject.group.name;
  const size_t a_typical = typical_instance(a_subject.group);
  const size_t b_typical = typical_instance(b_subject.group);
  compare_kernels({a, work_items(a, a_subject.owned[a_typical].work)},
                  {b, work_items(b, b_subject.owned[b_typical].work)}, group);
  compare_host(a, host_events(a, a_subject, a_typical), b, host_events(b, b_subject, b_typical),
               group);
  group.a = make_side(a, a_subject, a_typical);
  group.b = make_side(b, b_subject, b_typical);
  return group;
}

bool has_steps(const Subject& steps) { return steps.group.instances[0].event != trace::kNoEvent; }

// Compares whole traces only if neither has steps, or if there is no other group.
void compare_steps(const TraceIndex& a, const TraceIndex& b, Comparison& result) {
  const Subject a_steps = step_subject(a);
  const Subject b_steps = step_subject(b);
  const bool both = has_steps(a_steps) && has_steps(b_steps);
  const bool neither = !has_steps(a_steps) && !has_steps(b_steps);
  if (!both && !neither && !result.groups.empty()) return;
  result.groups.insert(result.groups.begin(),
                       both ? compare_group(a, a_steps, b, b_steps)
                            : compare_group(a, trace_subject(a), b, trace_subject(b)));
  result.steps = 0;
}

Subject find_subject(const TraceIndex& index, const std::string& name) {
  Subject subject = named_subject(index, name);
  if (!subject.group.instances.empty()) return subject;
  if (name == "step" || name == trace::kAllSteps) return step_subject(index);
  return name == "trace" ? trace_subject(index) : subject;
}

Subject require_subject(const TraceIndex& index, const std::string& name, const char* which) {
  Subject subject = find_subject(index, name);
  if (subject.group.instances.empty()) {
    fail("compare", "--under {}: {} has no annotation or operator of this name", name, which);
  }
  return subject;
}

bool owns_all_of(const Side& part, const Side& whole) {
  return part.median.kernels == whole.median.kernels &&
         part.median.launches == whole.median.launches;
}

// The group that represents the run: an annotation that owns all work of the steps, else the steps,
// else the annotation with the most device time.
size_t main_group(const Comparison& comparison) {
  const auto& groups = comparison.groups;
  if (comparison.steps) {
    const GroupComparison& steps = groups[*comparison.steps];
    for (size_t i = 0; i < groups.size(); ++i) {
      const bool whole = owns_all_of(groups[i].a, steps.a) && owns_all_of(groups[i].b, steps.b);
      if (i != *comparison.steps && whole) return i;
    }
    return *comparison.steps;
  }
  const auto longest =
      std::max_element(groups.begin(), groups.end(), [](const auto& x, const auto& y) {
        return x.a.median.device_ns + x.b.median.device_ns <
               y.a.median.device_ns + y.b.median.device_ns;
      });
  return static_cast<size_t>(longest - groups.begin());
}

void compare_annotations(const TraceIndex& a, const TraceIndex& b, Comparison& result) {
  const std::vector<Subject> b_annotations = annotation_subjects(b);
  std::map<std::string_view, const Subject*> of_b;
  for (const Subject& subject : b_annotations) of_b[subject.group.name] = &subject;
  for (const Subject& of_a : annotation_subjects(a)) {
    const auto partner = of_b.find(of_a.group.name);
    if (partner == of_b.end()) {
      result.only_a.push_back(of_a.group.name);
      continue;
    }
    result.groups.push_back(compare_group(a, of_a, b, *partner->second));
    of_b.erase(partner);
  }
  for (const Subject& subject : b_annotations) {
    if (of_b.count(subject.group.name) > 0) result.only_b.push_back(subject.group.name);
  }
}

}  // namespace

bool GroupComparison::overlaps() const {
  constexpr double kOverlapShare = 0.01;  // less is not worth a line
  const auto overlapping = [](const Side& side) {
    return side.median.device_ns > (1 + kOverlapShare) * side.median.busy_ns;
  };
  return overlapping(a) || overlapping(b);
}

bool Comparison::same_gpu_work() const {
  return std::all_of(groups.begin(), groups.end(),
                     [](const GroupComparison& group) { return group.same_gpu_work(); });
}

namespace {

bool has_device_work(const trace::Trace& trace) {
  return std::any_of(trace.category.begin(), trace.category.end(),
                     [](trace::Category category) { return trace::is_device_work(category); });
}

}  // namespace

Comparison compare(const TraceIndex& a, const TraceIndex& b,
                   const std::optional<std::string>& under) {
  Comparison result;
  const bool cpu_a = trace::has_cpu_kernels(a.trace);
  const bool cpu_b = trace::has_cpu_kernels(b.trace);
  // A trace without device work is compatible with both.
  result.cpu_kernels = (cpu_a || !has_device_work(a.trace)) &&
                       (cpu_b || !has_device_work(b.trace)) && (cpu_a || cpu_b);
  if (under) {
    const Subject of_a = require_subject(a, *under, "A");
    const Subject of_b = require_subject(b, *under, "B");
    result.groups.push_back(compare_group(a, of_a, b, of_b));
    return result;
  }
  compare_annotations(a, b, result);
  compare_steps(a, b, result);
  result.main_group = main_group(result);
  return result;
}

}  // namespace epi::analysis
