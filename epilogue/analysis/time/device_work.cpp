// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/device_work.h"

#include <algorithm>
#include <map>
#include <utility>

namespace epi::analysis {
namespace {

using trace::EventId;

Intervals intervals_of(const trace::Trace& trace, const std::vector<EventId>& work) {
  Intervals intervals;
  for (const EventId id : work) intervals.push_back({trace.ts_ns[id], trace.end_ns(id)});
  return intervals;
}

std::vector<EventId> by_start(const trace::Trace& trace, std::vector<EventId> work) {
  std::stable_sort(work.begin(), work.end(),
                   [&](EventId a, EventId b) { return trace.ts_ns[a] < trace.ts_ns[b]; });
  return work;
}

void keep_busiest(std::map<int64_t, std::vector<EventId>>& devices) {
  std::vector<std::pair<size_t, int64_t>> by_size;  // largest first, then by number
  for (const auto& [device, work] : devices) by_size.emplace_back(work.size(), -device);
  std::sort(by_size.rbegin(), by_size.rend());
  for (size_t i = kMaxDevices; i < by_size.size(); ++i) devices.erase(-by_size[i].second);
}

}  // namespace

int64_t device_of(const trace::Trace& trace, EventId work) {
  return trace.lanes[trace.lane[work]].pid;
}

DeviceWork::DeviceWork(const TraceIndex& index, int64_t device, std::vector<EventId> work)
    : device_(device),
      work_(by_start(index.trace, std::move(work))),
      busy_(merged(intervals_of(index.trace, work_))) {
  std::vector<std::pair<int64_t, int64_t>> ends;  // launch, end
  bool is_from_before = true;                     // launched before recording started
  for (const EventId id : work_) {
    const trace::Links& links = index.links;
    is_from_before &= links.launch[id] == trace::kNoEvent && links.op[id] == trace::kNoEvent;
    ends.emplace_back(is_from_before ? INT64_MIN : links.launch_ns[id], index.trace.end_ns(id));
  }
  std::sort(ends.begin(), ends.end());
  int64_t latest = INT64_MIN;
  for (const auto& [launch_ns, end_ns] : ends) {
    latest = std::max(latest, end_ns);
    launch_times_.push_back(launch_ns);
    latest_ends_.push_back(latest);
  }
}

Interval DeviceWork::window() const {
  const Intervals& busy = busy_.intervals();
  if (busy.empty()) return {};
  return {busy.front().begin, busy.back().end};
}

int64_t DeviceWork::end_of_work_before(int64_t ns) const {
  const auto after = std::lower_bound(launch_times_.begin(), launch_times_.end(), ns);
  if (after == launch_times_.begin()) return INT64_MIN;
  return latest_ends_[static_cast<size_t>(after - launch_times_.begin()) - 1];
}

std::vector<DeviceWork> device_works(const TraceIndex& index) {
  std::map<int64_t, std::vector<EventId>> devices;
  for (const EventId id : index.ownership.everything().work) {
    devices[device_of(index.trace, id)].push_back(id);
  }
  if (devices.size() > kMaxDevices) keep_busiest(devices);
  std::vector<DeviceWork> works;
  for (auto& [device, work] : devices) works.emplace_back(index, device, std::move(work));
  return works;
}

}  // namespace epi::analysis
