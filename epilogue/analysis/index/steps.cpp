// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/steps.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "epilogue/analysis/index/statistics.h"
#include "epilogue/analysis/names/runtime_call.h"
#include "epilogue/trace/overlap.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

constexpr double kColdFactor = 2;

void mark_cold(InstanceGroup& group) {
  std::vector<double> durations;
  for (const Instance& instance : group.instances) {
    durations.push_back(static_cast<double>(instance.measures.cpu_ns));
  }
  const double limit = kColdFactor * median(durations);
  for (Instance& instance : group.instances) {
    instance.cold = static_cast<double>(instance.measures.cpu_ns) > limit;
  }
}

Instance make_instance(const trace::Trace& trace, const Ownership& ownership, EventId id) {
  return {id,
          std::string(trace.name_of(id)),
          trace.ts_ns[id],
          trace.end_ns(id),
          ownership.measure(trace.ts_ns[id], trace.end_ns(id)),
          false};
}

}  // namespace

bool is_synchronizing(std::string_view call) { return runtime_call(call) == RuntimeCall::kWait; }

bool is_annotation(const trace::Trace& trace, EventId id) {
  return trace.is_span(id) && trace.category[id] == Category::kUserAnnotation;
}

Ownership::Ownership(const trace::Trace& trace, const trace::Links& links)
    : trace_(trace), marks_(step_marks(trace)) {
  std::vector<bool> starts_work(trace.size(), false);
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id) || !trace::is_device_work(trace.category[id])) continue;
    const bool attributed = links.launch[id] != kNoEvent || links.op[id] != kNoEvent;
    (attributed ? work_ : unattributed_).push_back({links.launch_ns[id], id});
    if (links.launch[id] != kNoEvent) starts_work[links.launch[id]] = true;
  }
  for (EventId id = 0; id < trace.size(); ++id) {
    if (starts_work[id]) launches_.push_back({trace.ts_ns[id], id});
    const bool call = trace.category[id] == Category::kCudaRuntime;
    if (call && is_synchronizing(trace.name_of(id))) syncs_.push_back({trace.ts_ns[id], id});
  }
  const auto earlier = [](const Moment& a, const Moment& b) { return a.ns < b.ns; };
  for (auto* moments : {&work_, &unattributed_, &launches_, &syncs_}) {
    std::stable_sort(moments->begin(), moments->end(), earlier);
  }
  work_sums_ = {0};
  for (const Moment& moment : work_) {
    work_sums_.push_back(work_sums_.back() + trace.dur_ns[moment.id]);
  }
}

Ownership::WorkSum Ownership::work_between(int64_t begin_ns, int64_t end_ns) const {
  const auto before = [](const Moment& moment, int64_t ns) { return moment.ns < ns; };
  const auto first = std::lower_bound(work_.begin(), work_.end(), begin_ns, before);
  const auto last = std::lower_bound(first, work_.end(), end_ns, before);
  return {last - first, work_sums_[static_cast<size_t>(last - work_.begin())] -
                            work_sums_[static_cast<size_t>(first - work_.begin())]};
}

std::vector<EventId> Ownership::between(const std::vector<Moment>& moments, int64_t begin_ns,
                                        int64_t end_ns) {
  const auto before = [](const Moment& moment, int64_t ns) { return moment.ns < ns; };
  const auto first = std::lower_bound(moments.begin(), moments.end(), begin_ns, before);
  const auto last = std::lower_bound(first, moments.end(), end_ns, before);
  std::vector<EventId> ids;
  ids.reserve(static_cast<size_t>(last - first));
  for (auto moment = first; moment != last; ++moment) ids.push_back(moment->id);
  return ids;
}

Owned Ownership::owned(int64_t begin_ns, int64_t end_ns) const {
  return {between(work_, begin_ns, end_ns), between(launches_, begin_ns, end_ns),
          between(syncs_, begin_ns, end_ns)};
}

Owned Ownership::everything() const {
  Owned all = owned(INT64_MIN, INT64_MAX);
  std::vector<Moment> merged;
  std::merge(work_.begin(), work_.end(), unattributed_.begin(), unattributed_.end(),
             std::back_inserter(merged),
             [](const Moment& a, const Moment& b) { return a.ns < b.ns; });
  all.work.clear();
  for (const Moment& moment : merged) all.work.push_back(moment.id);
  return all;
}

Measures Ownership::measure(int64_t begin_ns, int64_t end_ns, const Owned& owned) const {
  Measures measures;
  measures.cpu_ns = end_ns - begin_ns;
  for (const EventId id : owned.work) {
    measures.device_ns += trace_.dur_ns[id];
    if (trace_.category[id] == Category::kKernel) ++measures.kernels;
    if (trace_.category[id] == Category::kGpuMemcpy) ++measures.memcpys;
    if (trace_.category[id] == Category::kGpuMemset) ++measures.memsets;
  }
  std::vector<EventId> by_begin = owned.work;
  std::sort(by_begin.begin(), by_begin.end(),
            [&](EventId a, EventId b) { return trace_.ts_ns[a] < trace_.ts_ns[b]; });
  int64_t covered_to = begin_ns;
  int64_t last_end = end_ns;
  for (const EventId id : by_begin) {
    const int64_t from = std::max(covered_to, trace_.ts_ns[id]);
    measures.busy_ns += std::max<int64_t>(0, trace_.end_ns(id) - from);
    covered_to = std::max(covered_to, trace_.end_ns(id));
    last_end = std::max(last_end, trace_.end_ns(id));
  }
  measures.window_ns = last_end - begin_ns;
  measures.launches = static_cast<int64_t>(owned.launches.size());
  measures.syncs = static_cast<int64_t>(owned.syncs.size());
  return measures;
}

Instance whole_trace(const trace::Trace& trace, const Ownership& ownership) {
  int64_t begin_ns = INT64_MAX;
  int64_t end_ns = INT64_MIN;
  for (EventId id = 0; id < trace.size(); ++id) {
    const Category category = trace.category[id];
    if (!trace.is_span(id) || !(trace::is_host(category) || trace::is_device_work(category)))
      continue;
    begin_ns = std::min(begin_ns, trace.ts_ns[id]);
    end_ns = std::max(end_ns, trace.end_ns(id));
  }
  if (begin_ns > end_ns) begin_ns = end_ns = 0;
  Measures measures = ownership.measure(begin_ns, end_ns, ownership.everything());
  measures.cpu_ns = end_ns - begin_ns;
  measures.window_ns = measures.cpu_ns;
  return {kNoEvent, "whole trace", begin_ns, end_ns, measures, false};
}

InstanceGroup steps(const trace::Trace& trace, const Ownership& ownership) {
  const StepMarks& marks = ownership.marks();
  InstanceGroup group{marks.name, {}};
  for (const EventId id : marks.events) {
    group.instances.push_back(make_instance(trace, ownership, id));
  }
  if (group.instances.empty()) group.instances.push_back(whole_trace(trace, ownership));
  mark_cold(group);
  return group;
}

std::vector<InstanceGroup> annotations(const trace::Trace& trace, const Ownership& ownership) {
  std::vector<InstanceGroup> groups;
  std::unordered_map<trace::NameId, size_t> places;
  const auto& steps = ownership.marks().events;
  const std::unordered_set<EventId> are_steps(steps.begin(), steps.end());
  std::vector<EventId> others;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (is_annotation(trace, id) && !are_steps.contains(id)) others.push_back(id);
  }
  for (const EventId id : trace::limit_overlap(trace, std::move(others))) {
    const auto [place, is_new] = places.try_emplace(trace.name[id], groups.size());
    if (is_new) groups.push_back({std::string(trace.name_of(id)), {}});
    groups[place->second].instances.push_back(make_instance(trace, ownership, id));
  }
  for (InstanceGroup& group : groups) mark_cold(group);
  return groups;
}

MedianMeasures median_measures(const InstanceGroup& group) {
  const auto middle = [&](auto&& of) {
    std::vector<double> values;
    for (const Instance& instance : group.instances) {
      values.push_back(static_cast<double>(of(instance.measures)));
    }
    return median(std::move(values));
  };
  MedianMeasures result;
  result.cpu_ns = middle([](const Measures& m) { return m.cpu_ns; });
  result.device_ns = middle([](const Measures& m) { return m.device_ns; });
  result.kernels = middle([](const Measures& m) { return m.kernels; });
  result.memcpys = middle([](const Measures& m) { return m.memcpys; });
  result.memsets = middle([](const Measures& m) { return m.memsets; });
  result.launches = middle([](const Measures& m) { return m.launches; });
  result.busy = middle([](const Measures& m) { return m.busy(); });
  result.busy_ns = middle([](const Measures& m) { return m.busy_ns; });
  result.idle_ns = middle([](const Measures& m) { return m.idle_ns(); });
  const auto [least, most] = std::minmax_element(
      group.instances.begin(), group.instances.end(),
      [](const Instance& a, const Instance& b) { return a.measures.kernels < b.measures.kernels; });
  if (least != group.instances.end()) {
    result.kernels_min = least->measures.kernels;
    result.kernels_max = most->measures.kernels;
  }
  return result;
}

double device_time(const trace::Trace& trace, std::span<const trace::EventId> work) {
  double ns = 0;
  for (const trace::EventId id : work) ns += static_cast<double>(trace.dur_ns[id]);
  return ns;
}

size_t typical_instance(const InstanceGroup& group) {
  const auto& instances = group.instances;
  const auto any = [&](auto&& test) {
    return std::any_of(instances.begin(), instances.end(), test);
  };
  const auto works = [](const Instance& one) { return one.measures.device_ns > 0; };
  const bool some_work = any(works);
  const bool some_warm =
      any([&](const Instance& one) { return !one.cold && (!some_work || works(one)); });
  std::vector<size_t> typical;
  for (size_t i = 0; i < instances.size(); ++i) {
    if (some_work && !works(instances[i])) continue;
    if (some_warm && instances[i].cold) continue;
    typical.push_back(i);
  }
  std::map<int64_t, size_t> counts;
  for (const size_t i : typical) ++counts[instances[i].measures.kernels];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (2 * most->second > typical.size()) {
    std::erase_if(typical, [&](size_t i) { return instances[i].measures.kernels != most->first; });
  }
  std::stable_sort(typical.begin(), typical.end(), [&](size_t a, size_t b) {
    return instances[a].measures.device_ns < instances[b].measures.device_ns;
  });
  return typical[(typical.size() - 1) / 2];
}

}  // namespace epi::analysis
