// SPDX-License-Identifier: Apache-2.0
// The GPU events of one device.
#pragma once

#include <cstdint>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/time/busy_times.h"

namespace epi::analysis {

class DeviceWork {
 public:
  DeviceWork(const TraceIndex& index, int64_t device, std::vector<trace::EventId> work);

  int64_t device() const { return device_; }                         // the process id of its lanes
  const std::vector<trace::EventId>& work() const { return work_; }  // by start
  const BusyTimes& busy() const { return busy_; }
  // From the start of its first event to the end of its last.
  Interval window() const;
  // The end of all work that was launched before `ns`. INT64_MIN if there is none. Work without a
  // launch counts from its start or, before all work with one, as launched before the recording.
  int64_t end_of_work_before(int64_t ns) const;

 private:
  int64_t device_;
  std::vector<trace::EventId> work_;
  BusyTimes busy_;
  std::vector<int64_t> launch_times_;  // sorted
  std::vector<int64_t> latest_ends_;   // running maximum, in that order
};

// The device that an event of work ran on.
int64_t device_of(const trace::Trace& trace, trace::EventId work);

// More devices are not in one machine. Each has a row per step, so their number is limited.
inline constexpr size_t kMaxDevices = 64;
// One entry per device with work, by number: of the `kMaxDevices` with the most work.
std::vector<DeviceWork> device_works(const TraceIndex& index);

}  // namespace epi::analysis
