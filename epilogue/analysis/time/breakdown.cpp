// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/breakdown.h"

#include <algorithm>
#include <functional>
#include <map>

#include "epilogue/analysis/index/intervals.h"
#include "epilogue/analysis/index/statistics.h"
#include "epilogue/analysis/time/idle.h"
#include "epilogue/analysis/time/idle_sums.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

Interval interval_of(const trace::Trace& trace, EventId id) {
  return {trace.ts_ns[id], trace.end_ns(id)};
}

int64_t device_of(const trace::Trace& trace, EventId id) { return trace.lanes[trace.lane[id]].pid; }

void sort_by_begin(const trace::Trace& trace, std::vector<EventId>& work) {
  std::stable_sort(work.begin(), work.end(),
                   [&](EventId a, EventId b) { return trace.ts_ns[a] < trace.ts_ns[b]; });
}

struct WorkSets {
  Intervals compute;
  Intervals communication;
  Intervals memory;
  Intervals all;
};

WorkSets sets_of(const TraceIndex& index, std::span<const EventId> work) {
  WorkSets sets;
  for (const EventId id : work) {
    const Interval one = interval_of(index.trace, id);
    const bool is_kernel = index.trace.category[id] == Category::kKernel;
    const bool is_comm = is_kernel && index.names[index.trace.name[id]].kind == Kind::kComm;
    (is_comm ? sets.communication : is_kernel ? sets.compute : sets.memory).push_back(one);
    sets.all.push_back(one);
  }
  for (Intervals* set : {&sets.compute, &sets.communication, &sets.memory, &sets.all}) {
    *set = merged(std::move(*set));
  }
  return sets;
}

TimeShares shares_of(const WorkSets& sets, const Interval& window) {
  TimeShares shares;
  shares.window_ns = window.end - window.begin;
  shares.compute_ns = length(sets.compute);
  shares.communication_ns = length(sets.communication);
  shares.memory_ns = length(sets.memory);
  const Intervals exposed = difference(sets.communication, sets.compute);
  shares.exposed_communication_ns = length(exposed);
  shares.exposed_memory_ns =
      length(difference(difference(sets.memory, sets.compute), sets.communication));
  shares.idle_ns = shares.window_ns - length(sets.all);
  return shares;
}

// `work` is sorted by start.
LaunchStatistics launch_statistics(const TraceIndex& index, std::span<const EventId> work) {
  LaunchStatistics statistics;
  std::vector<int64_t> delays;
  std::vector<int64_t> launched;
  std::vector<int64_t> starts;
  for (const EventId id : work) {
    if (index.links.launch[id] == kNoEvent) continue;
    launched.push_back(index.links.launch_ns[id]);
    starts.push_back(index.trace.ts_ns[id]);
    delays.push_back(starts.back() - launched.back());
  }
  std::sort(launched.begin(), launched.end());
  std::sort(starts.begin(), starts.end());
  std::sort(delays.begin(), delays.end());
  std::vector<int64_t> queues;
  size_t started = 0;  // at the time of the launch
  for (size_t i = 0; i < launched.size(); ++i) {
    while (started < starts.size() && starts[started] <= launched[i]) ++started;
    queues.push_back(static_cast<int64_t>(i - std::min(i, started)));
  }
  std::sort(queues.begin(), queues.end());
  statistics.launches = static_cast<int64_t>(launched.size());
  statistics.delay_median_ns = percentile(delays, 0.5);
  statistics.delay_p90_ns = percentile(delays, 0.9);
  statistics.queue_median = percentile(queues, 0.5);
  statistics.queue_max = queues.empty() ? 0 : queues.back();
  return statistics;
}

void add_kinds(const TraceIndex& index, std::span<const EventId> work, DeviceBreakdown& result) {
  std::map<Kind, KindTime> kinds;
  std::map<trace::NameId, CopyTime> copies;
  const trace::Trace& trace = index.trace;
  for (const EventId id : work) {
    const Kind kind = index.names[trace.name[id]].kind;
    KindTime& sum = kinds[kind];
    sum.kind = text_of(kind);
    ++sum.count;
    sum.ns += trace.dur_ns[id];
    if (trace.category[id] == Category::kKernel) {
      ++result.kernels;
      if (trace.dur_ns[id] < kShortNs) {
        ++result.short_kernels;
        result.short_ns += trace.dur_ns[id];
      }
    } else if (trace.category[id] == Category::kGpuMemcpy) {
      CopyTime& copy = copies[trace.name[id]];
      copy.name = trace.name_of(id);
      ++copy.count;
      copy.ns += trace.dur_ns[id];
      const auto bytes = trace::find_value(trace.args_of(id), "bytes");
      if (bytes) copy.bytes += trace::parse_integer_token(*bytes).value_or(0);
    }
  }
  for (auto& [kind, sum] : kinds) result.kinds.push_back(std::move(sum));
  for (auto& [name, copy] : copies) result.copies.push_back(std::move(copy));
  const auto longer = [](const auto& a, const auto& b) { return a.ns > b.ns; };
  std::stable_sort(result.kinds.begin(), result.kinds.end(), longer);
  std::stable_sort(result.copies.begin(), result.copies.end(), longer);
}

void keep_busiest(std::map<int64_t, std::vector<EventId>>& devices) {
  if (devices.size() <= kMaxDevices) return;
  std::vector<size_t> counts;
  for (const auto& [device, work] : devices) counts.push_back(work.size());
  std::sort(counts.rbegin(), counts.rend());
  const size_t least = counts[kMaxDevices - 1];
  size_t ties =
      static_cast<size_t>(std::count(counts.begin(), counts.begin() + kMaxDevices, least));
  std::erase_if(devices, [&](const auto& one) {
    const bool tie = one.second.size() == least && ties > 0;
    if (tie) --ties;
    return one.second.size() < least || (one.second.size() == least && !tie);
  });
}

// One device's work, sorted by start.
class DeviceWork {
 public:
  DeviceWork(const TraceIndex& index, const HostTimeline& host, std::vector<EventId> work)
      : index_(index), host_(host), work_(std::move(work)) {
    sort_by_begin(index_.trace, work_);
  }

  DeviceBreakdown result(int64_t device, const InstanceGroup& steps, size_t parts) const {
    DeviceBreakdown result;
    result.device = device;
    const WorkSets sets = sets_of(index_, work_);
    const Interval window{sets.all.empty() ? 0 : sets.all.front().begin,
                          sets.all.empty() ? 0 : sets.all.back().end};
    result.shares = shares_of(sets, window);
    result.begin_ns = window.begin;
    const BusyTimes busy(sets.all);
    const std::function<void()> tasks[] = {
        [&] { add_gaps(window, parts, result); },
        [&] { add_steps(busy, steps, result); },
        [&] { add_streams(busy, window, result); },
        [&] {
          add_kinds(index_, work_, result);
          result.launches = launch_statistics(index_, work_);
        },
    };
    parallel_for(std::ssize(tasks), 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) tasks[task]();
    });
    return result;
  }

 private:
  void add_gaps(const Interval& window, size_t parts, DeviceBreakdown& result) const {
    result.gaps = idle_gaps(index_, host_, {work_, window});
    result.idle = sum_of(result.gaps);
    result.over_time = idle_over_time(result.gaps, window, parts);
  }

  void add_streams(const BusyTimes& busy, const Interval& window, DeviceBreakdown& result) const {
    HostTimes host_times(host_);
    std::map<int64_t, std::vector<EventId>> streams;
    for (const EventId id : work_) {
      streams[index_.trace.lanes[index_.trace.lane[id]].tid].push_back(id);
    }
    for (const auto& [stream, work] : streams) {
      const WorkSets sets = sets_of(index_, work);
      result.streams.push_back(
          {stream, static_cast<int64_t>(work.size()), shares_of(sets, window),
           idle_causes(index_, host_, host_times, {work, window}, OtherWork::kStreams, busy)});
    }
  }

  // A step owns what was launched inside it, whenever it runs.
  void add_steps(const BusyTimes& busy, const InstanceGroup& steps, DeviceBreakdown& result) const {
    HostTimes host_times(host_);
    for (const Instance& step : steps.instances) {
      Interval window{step.begin_ns, step.end_ns};
      const Owned mine = step.event == kNoEvent
                             ? index_.ownership.everything()
                             : index_.ownership.owned(step.begin_ns, step.end_ns);
      std::vector<EventId> owned;
      for (const EventId id : mine.work) {
        if (device_of(index_.trace, id) != result.device) continue;
        owned.push_back(id);
        window.end = std::max(window.end, index_.trace.end_ns(id));
      }
      sort_by_begin(index_.trace, owned);
      const WorkSets sets = sets_of(index_, owned);
      result.steps.push_back(
          {step.name, step.cold, window, shares_of(sets, window),
           idle_causes(index_, host_, host_times, {owned, window}, OtherWork::kSteps, busy)});
    }
  }

  const TraceIndex& index_;
  const HostTimeline& host_;
  std::vector<EventId> work_;
};

}  // namespace

std::vector<DeviceBreakdown> breakdown(const TraceIndex& index, size_t parts) {
  const trace::Trace& trace = index.trace;
  std::map<int64_t, std::vector<EventId>> devices;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id) || !trace::is_device_work(trace.category[id])) continue;
    devices[device_of(trace, id)].push_back(id);
  }
  if (devices.empty()) return {};
  if (devices.size() > kMaxDevices) trace.defects.note(trace::Defect::kManyDevices);
  keep_busiest(devices);
  const HostTimeline host(index);
  const InstanceGroup group = steps(trace, index.ownership);
  std::vector<DeviceBreakdown> results;
  for (auto& [device, work] : devices) {
    results.push_back(DeviceWork(index, host, std::move(work)).result(device, group, parts));
  }
  return results;
}

}  // namespace epi::analysis
