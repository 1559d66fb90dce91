// SPDX-License-Identifier: Apache-2.0
// What a CPU thread was doing at each point in time, by its innermost event.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "epilogue/analysis/index/intervals.h"
#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/names/runtime_call.h"

namespace epi::analysis {

enum class HostActivity : uint8_t {
  kDispatch,       // inside an operator
  kLaunching,      // in a runtime call that launches, copies or queries
  kAllocating,     // in a call that allocates or frees memory
  kInitializing,   // context creation, module loading, streams: see `RuntimeCall::kInitialization`
  kSynchronizing,  // in a call that waits for the device
  kDataLoading,    // in or below a DataLoader's range
  kCompiling,      // in or below a compiler's range
  kGuards,         // looking up compiled code
  kHostWork,       // at least `kMinHostWorkNs` without a call: the program's own work, Python
  kBetweenOps,     // Python, or code that is not recorded
};
inline constexpr size_t kHostActivities = 10;
using ActivityTimes = std::array<int64_t, kHostActivities>;  // nanoseconds, by activity

// Dispatching an operator takes microseconds, also in Python and under a profiler. A thread that
// launches work and makes no call for longer does something else.
inline constexpr int64_t kMinHostWorkNs = 1000000;

// True if a host event is a compiler at work.
bool is_compiling(std::string_view name);

class HostTimeline {
 public:
  // A time range with one innermost event.
  struct Segment {
    int64_t begin;
    int64_t end;
    HostActivity activity;
    trace::EventId event;  // kNoEvent: nothing is recorded
  };

  explicit HostTimeline(const TraceIndex& index);

  // Covers [begin, end) of a lane without gaps.
  std::vector<Segment> segments(trace::LaneId lane, int64_t begin_ns, int64_t end_ns) const;
  // The same. `place` is where the search starts among the recorded segments; it is set to the
  // first that ends after `begin_ns`.
  std::vector<Segment> segments(trace::LaneId lane, int64_t begin_ns, int64_t end_ns,
                                size_t& place) const;
  // The recorded time of a lane, in order.
  std::span<const Segment> recorded(trace::LaneId lane) const { return lanes_[lane]; }

  // When a call had submitted its work: at its end, or shortly after its start if the call waits
  // for the work.
  int64_t submitted_ns(const trace::Trace& trace, trace::EventId call) const;
  // True for a copy from or to pageable memory: the host stages it, and the call returns at its
  // end.
  bool waits_for_own_copy(trace::EventId call) const { return waits_for_own_copy_[call]; }
  // The end of the lane's last event. INT64_MIN if it has none.
  int64_t last_end(trace::LaneId lane) const {
    return lanes_[lane].empty() ? INT64_MIN : lanes_[lane].back().end;
  }
  // True for the time before a thread's first event, when its activity is unknown.
  bool is_before_file(trace::LaneId lane, const Segment& segment) const {
    return segment.event == trace::kNoEvent && segment.end <= first_ns_[lane];
  }
  // Times at which any device ran work.
  const Intervals& device_busy() const { return device_busy_; }

 private:
  HostActivity activity_of_call(const TraceIndex& index, trace::EventId call) const;
  void add_lane(const TraceIndex& index, trace::LaneId lane);
  void find_start_up(const TraceIndex& index);
  void mark_loading_frames(const TraceIndex& index);

  std::vector<RuntimeCall> calls_;  // by name
  std::vector<std::optional<HostActivity>>
      inherited_;  // by name: activity that applies to everything below, too
  Intervals device_busy_;
  std::vector<bool> is_step_;             // by event
  std::vector<bool> waits_for_own_copy_;  // by event
  std::vector<bool> may_start_up_;        // by event: calls that can load a module
  std::vector<std::vector<Segment>> lanes_;
  std::vector<int64_t> first_ns_;  // by lane
};

}  // namespace epi::analysis
