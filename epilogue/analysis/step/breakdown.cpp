// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/step/breakdown.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_set>

#include "epilogue/analysis/index/statistics.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;

// `work` is sorted by start.
LaunchStatistics launch_statistics(const TraceIndex& index, std::span<const EventId> work) {
  LaunchStatistics statistics;
  std::vector<int64_t> delays;
  std::vector<int64_t> launched;
  std::vector<int64_t> starts;
  std::unordered_set<EventId> calls;  // one call can launch several kernels, as a graph's does
  for (const EventId id : work) {
    if (index.links.launch[id] == kNoEvent) continue;
    calls.insert(index.links.launch[id]);
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
  statistics.launches = std::ssize(calls);
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
  double all_ns = 0;
  for (const auto& [kind, sum] : kinds) all_ns += static_cast<double>(sum.ns);
  for (auto& [kind, sum] : kinds) {
    sum.share = all_ns <= 0 ? 0 : static_cast<double>(sum.ns) / all_ns;
    result.kinds.push_back(std::move(sum));
  }
  for (auto& [name, copy] : copies) result.copies.push_back(std::move(copy));
  const auto longer = [](const auto& a, const auto& b) { return a.ns > b.ns; };
  std::stable_sort(result.kinds.begin(), result.kinds.end(), longer);
  std::stable_sort(result.copies.begin(), result.copies.end(), longer);
}

class Breakdown {
 public:
  Breakdown(const StepModels& models, const DeviceWork& device)
      : models_(models), index_(models.index()), device_(device) {}

  DeviceBreakdown result() const {
    DeviceBreakdown result;
    result.device = device_.device();
    result.window = device_.window();
    const std::function<void()> tasks[] = {
        [&] {
          result.shares = shares(device_.work());
          result.gaps = clipped(models_.gaps(device_), result.window);
          result.idle = sum_of(result.gaps);
        },
        [&] { add_steps(result); },
        [&] { add_streams(result); },
        [&] {
          add_kinds(index_, device_.work(), result);
          result.launches = launch_statistics(index_, device_.work());
        },
    };
    parallel_for(std::ssize(tasks), 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) tasks[task]();
    });
    return result;
  }

 private:
  // Of some of the device's work, over the window of the device.
  TimeShares shares(std::span<const EventId> work) const {
    TimeShares shares = shares_of(index_, work, device_.window());
    const int64_t running_ns = device_.busy().in(device_.window());
    shares.others_ns = running_ns - shares.busy_ns;
    shares.idle_ns = shares.window_ns - running_ns;
    return shares;
  }

  void add_streams(DeviceBreakdown& result) const {
    std::map<int64_t, std::vector<EventId>> streams;
    for (const EventId id : device_.work()) {
      streams[index_.trace.lanes[index_.trace.lane[id]].tid].push_back(id);
    }
    for (const auto& [stream, work] : streams) {
      result.streams.push_back({shares(work), stream, std::ssize(work)});
    }
  }

  void add_steps(DeviceBreakdown& result) const {
    for (const StepModel& step : models_.steps().steps) {
      const auto gaps = clipped(models_.gaps(device_), step.window);
      result.steps.push_back({models_.shares(step, device_), step.name, step.cold, sum_of(gaps)});
    }
  }

  const StepModels& models_;
  const TraceIndex& index_;
  const DeviceWork& device_;
};

}  // namespace

std::vector<DeviceBreakdown> breakdown(const StepModels& models) {
  std::vector<DeviceBreakdown> results;
  size_t included = 0;
  for (const DeviceWork& device : models.devices()) {
    results.push_back(Breakdown(models, device).result());
    included += device.work().size();
  }
  const TraceIndex& index = models.index();
  if (included < index.ownership.everything().work.size()) index.limits.note(Limit::kDevices);
  return results;
}

}  // namespace epi::analysis
