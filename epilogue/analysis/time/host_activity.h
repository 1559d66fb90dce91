// SPDX-License-Identifier: Apache-2.0
// What a thread of the CPU was doing at each moment, by the innermost event of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "epilogue/analysis/index/intervals.h"
#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/names/runtime_call.h"

namespace epi::analysis {

enum class HostActivity : uint8_t {
  kDispatch,       // inside an operator
  kLaunching,      // in a call of the runtime that launches, copies or asks for something
  kAllocating,     // in a call that allocates or frees memory
  kInitializing,   // context creation, module loading, streams: see `is_initialization`
  kSynchronizing,  // in a call that waits for the device
  kDataLoading,    // in, or below, a DataLoader's range
  kCompiling,      // in, or below, what compiles
  kGuards,         // looking up compiled code
  kBetweenOps,     // Python, or code that is not recorded
};
inline constexpr size_t kHostActivities = 9;
using ActivityTimes = std::array<int64_t, kHostActivities>;  // nanoseconds, by activity

// Whether a host event is a compiler at work.
bool is_compiling(std::string_view name);

class HostTimeline {
 public:
  // A time in which the innermost event did not change.
  struct Segment {
    int64_t begin;
    int64_t end;
    HostActivity activity;
    trace::EventId event;  // kNoEvent: nothing is recorded
  };

  explicit HostTimeline(const TraceIndex& index);

  // All of [begin, end) of a lane, without gaps.
  std::vector<Segment> segments(trace::LaneId lane, int64_t begin_ns, int64_t end_ns) const;
  // Adds what the lane was doing in [begin, end).
  void add(trace::LaneId lane, int64_t begin_ns, int64_t end_ns, ActivityTimes& times) const;

  // When a call had asked the device for its work: at its end, but for a call that waits for it.
  int64_t issued_ns(const trace::Trace& trace, trace::EventId call) const;
  // A copy from or to pageable memory: the host stages it, and the call returns at its end.
  bool waits_for_own_copy(trace::EventId call) const { return waits_for_own_copy_[call]; }
  // Of the last event of a lane; INT64_MIN where it has none.
  int64_t last_end(trace::LaneId lane) const {
    return lanes_[lane].empty() ? INT64_MIN : lanes_[lane].back().end;
  }
  // Nothing is recorded of a thread before its first event: what it did then is not known.
  bool is_before_file(trace::LaneId lane, const Segment& segment) const {
    return segment.event == trace::kNoEvent && segment.end <= first_ns_[lane];
  }
  // When some device was at work.
  const Intervals& device_busy() const { return device_busy_; }

 private:
  HostActivity activity_of_call(const TraceIndex& index, trace::EventId call) const;
  void add_lane(const TraceIndex& index, trace::LaneId lane);
  void mark_loading_frames(const TraceIndex& index);

  std::vector<RuntimeCall> calls_;                      // by name
  std::vector<std::optional<HostActivity>> inherited_;  // by name: what all below belongs to, too
  Intervals device_busy_;
  std::vector<bool> is_step_;             // by event
  std::vector<bool> waits_for_own_copy_;  // by event
  std::vector<std::vector<Segment>> lanes_;
  std::vector<int64_t> first_ns_;  // by lane
};

}  // namespace epi::analysis
