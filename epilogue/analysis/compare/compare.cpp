// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/compare/compare.h"

#include <algorithm>
#include <map>

#include "epilogue/analysis/compare/compare_kernels.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/step/diagnosis.h"
#include "epilogue/base/error.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/step_name.h"

namespace epi::analysis {
namespace {

using trace::EventId;

Side make_side(const TraceIndex& index, const StepGroup& group, const StepModel& shown) {
  Side side;
  side.instances = std::ssize(group.steps);
  side.median = group.medians();
  side.bytes = moved_bytes(index.trace, index.links, shown.owned.work);
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

std::vector<EventId> host_events_of(const TraceIndex& index, const StepGroup& group,
                                    const StepModel& step) {
  return host_events(index, step.event, step.host, group.of_ops);
}

GroupComparison compare_group(const TraceIndex& a, const StepGroup& of_a, const TraceIndex& b,
                              const StepGroup& of_b) {
  GroupComparison group;
  group.name = of_a.name;
  const StepModel& a_shown = of_a.steps[of_a.shown()];
  const StepModel& b_shown = of_b.steps[of_b.shown()];
  compare_kernels({a, work_items(a, a_shown.owned.work)}, {b, work_items(b, b_shown.owned.work)},
                  group);
  compare_host(a, host_events_of(a, of_a, a_shown), b, host_events_of(b, of_b, b_shown), group);
  group.a = make_side(a, of_a, a_shown);
  group.b = make_side(b, of_b, b_shown);
  return group;
}

// Compares whole traces only if neither has steps, or if there is no other group.
void compare_steps(const StepModels& a, const StepModels& b, Comparison& result) {
  const StepGroup& a_steps = a.judged();
  const StepGroup& b_steps = b.judged();
  const bool both = !a_steps.is_whole_trace() && !b_steps.is_whole_trace();
  const bool neither = a_steps.is_whole_trace() && b_steps.is_whole_trace();
  if (!both && !neither && !result.groups.empty()) return;
  result.groups.insert(result.groups.begin(),
                       both
                           ? compare_group(a.index(), a_steps, b.index(), b_steps)
                           : compare_group(a.index(), a.whole_trace(), b.index(), b.whole_trace()));
  result.steps = 0;
}

StepGroup find_group(const StepModels& models, const std::string& name) {
  StepGroup group = models.named(name);
  if (!group.steps.empty()) return group;
  if (name == "step" || name == trace::kAllSteps) return models.judged();
  return name == "trace" ? models.whole_trace() : group;
}

StepGroup require_group(const StepModels& models, const std::string& name, const char* which) {
  StepGroup group = find_group(models, name);
  if (group.steps.empty()) {
    fail("compare", "--under {}: {} has no annotation or operator of this name", name, which);
  }
  return group;
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
        return x.a.median.gpu_ns + x.b.median.gpu_ns < y.a.median.gpu_ns + y.b.median.gpu_ns;
      });
  return static_cast<size_t>(longest - groups.begin());
}

void compare_annotations(const StepModels& a, const StepModels& b, Comparison& result) {
  std::map<std::string_view, const StepGroup*> of_b;
  for (const StepGroup& group : b.annotations()) of_b[group.name] = &group;
  for (const StepGroup& of_a : a.annotations()) {
    const auto partner = of_b.find(of_a.name);
    if (partner == of_b.end()) {
      result.only_a.push_back(of_a.name);
      continue;
    }
    result.groups.push_back(compare_group(a.index(), of_a, b.index(), *partner->second));
    of_b.erase(partner);
  }
  for (const StepGroup& group : b.annotations()) {
    if (of_b.count(group.name) > 0) result.only_b.push_back(group.name);
  }
}

}  // namespace

bool GroupComparison::overlaps() const {
  constexpr double kOverlapShare = 0.01;  // less is not worth a line
  const auto overlapping = [](const Side& side) {
    return side.median.gpu_ns > (1 + kOverlapShare) * side.median.busy_ns;
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

Comparison compare(const StepModels& a, const StepModels& b,
                   const std::optional<std::string>& under) {
  Comparison result;
  const trace::Trace& of_a = a.index().trace;
  const trace::Trace& of_b = b.index().trace;
  result.a_device = device_name(of_a);
  result.b_device = device_name(of_b);
  result.a_is_cut = is_cut(of_a);
  result.b_is_cut = is_cut(of_b);
  const bool cpu_a = trace::has_cpu_kernels(of_a);
  const bool cpu_b = trace::has_cpu_kernels(of_b);
  // A trace without device work is compatible with both.
  result.cpu_kernels =
      (cpu_a || !has_device_work(of_a)) && (cpu_b || !has_device_work(of_b)) && (cpu_a || cpu_b);
  if (under) {
    const StepGroup a_group = require_group(a, *under, "A");
    const StepGroup b_group = require_group(b, *under, "B");
    result.groups.push_back(compare_group(a.index(), a_group, b.index(), b_group));
    return result;
  }
  compare_annotations(a, b, result);
  compare_steps(a, b, result);
  result.main_group = main_group(result);
  return result;
}

}  // namespace epi::analysis
