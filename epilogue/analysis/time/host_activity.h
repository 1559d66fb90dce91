// SPDX-License-Identifier: Apache-2.0
// What a thread of the CPU was doing at each moment, by the innermost event of it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

enum class HostActivity : uint8_t {
  kDispatch,       // inside an operator
  kCall,           // in the runtime or the driver: launches, copies, allocations
  kSynchronizing,  // in a call that waits for the device
  kDataLoading,    // in, or below, a DataLoader's range
  kCompiling,      // in, or below, what compiles
  kGuards,         // looking up compiled code
  kBetweenOps,     // Python, or code that is not recorded
};
inline constexpr size_t kHostActivities = 7;
using ActivityTimes = std::array<int64_t, kHostActivities>;  // nanoseconds, by activity

// Whether a host event is a compiler at work.
bool is_compiling(std::string_view name);

class HostTimeline {
 public:
  explicit HostTimeline(const TraceIndex& index);

  // Adds what the lane was doing in [begin, end).
  void add(trace::LaneId lane, int64_t begin_ns, int64_t end_ns, ActivityTimes& times) const;

 private:
  struct Segment {
    int64_t begin;
    int64_t end;
    HostActivity activity;
  };
  std::vector<std::vector<Segment>> lanes_;
};

}  // namespace epi::analysis
