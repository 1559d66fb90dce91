// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/compare.h"

#include <algorithm>
#include <map>
#include <set>

#include "epilogue/analysis/compare_kernels.h"
#include "epilogue/base/error.h"

namespace epi::analysis {
namespace {

using trace::EventId;

Side make_side(const Examined& examined, const Subject& subject, size_t typical) {
  Side side;
  side.instances = static_cast<int64_t>(subject.group.instances.size());
  side.median = median_measures(subject.group);
  side.bytes = moved_bytes(examined.trace, examined.links, subject.owned[typical].work);
  return side;
}

// In the order in which names first occur in A, then in B.
void compare_host(const Examined& a, const std::vector<EventId>& a_events, const Examined& b,
                  const std::vector<EventId>& b_events, GroupComparison& group) {
  std::vector<HostChange> changes;
  std::map<std::string_view, size_t> places;
  const auto change_of = [&](std::string_view name) -> HostChange& {
    // Steps are called by their number; their count of one is the same step.
    if (name.starts_with("ProfilerStep#")) name = "ProfilerStep*";
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

GroupComparison compare_group(const Examined& a, const Subject& a_subject, const Examined& b,
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

// Whole traces are compared only where neither has steps, or there is nothing else.
void compare_steps(const Examined& a, const Examined& b, bool nothing_else,
                   std::vector<GroupComparison>& groups) {
  const Subject a_steps = step_subject(a);
  const Subject b_steps = step_subject(b);
  if (has_steps(a_steps) == has_steps(b_steps)) {
    groups.insert(groups.begin(), compare_group(a, a_steps, b, b_steps));
  } else if (nothing_else) {
    groups.push_back(compare_group(a, trace_subject(a), b, trace_subject(b)));
  }
}

Subject required(const Examined& examined, const std::string& name, const char* which) {
  Subject subject = named_subject(examined, name);
  if (subject.group.instances.empty()) {
    fail("compare", "--under {}: no annotation and no operator of {} is named so", name, which);
  }
  return subject;
}

// The annotation that stands for the run: the only one, or the steps.
size_t main_group(const std::vector<GroupComparison>& groups) { return groups.size() == 2 ? 1 : 0; }

}  // namespace

bool Comparison::same_gpu_work() const {
  return std::all_of(groups.begin(), groups.end(),
                     [](const GroupComparison& group) { return group.same_gpu_work(); });
}

Comparison compare(const Examined& a, const Examined& b, const std::optional<std::string>& under) {
  Comparison result;
  if (under) {
    const Subject of_a = required(a, *under, "A");
    const Subject of_b = required(b, *under, "B");
    result.groups.push_back(compare_group(a, of_a, b, of_b));
    return result;
  }
  const std::vector<Subject> b_annotations = annotation_subjects(b);
  for (const Subject& of_a : annotation_subjects(a)) {
    const auto of_b =
        std::find_if(b_annotations.begin(), b_annotations.end(),
                     [&](const Subject& subject) { return subject.group.name == of_a.group.name; });
    if (of_b != b_annotations.end()) result.groups.push_back(compare_group(a, of_a, b, *of_b));
  }
  compare_steps(a, b, result.groups.empty(), result.groups);
  result.main_group = main_group(result.groups);
  return result;
}

}  // namespace epi::analysis
