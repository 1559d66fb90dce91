// SPDX-License-Identifier: Apache-2.0
// Idle time by cause of one stream or step, without the list of its gaps. A gap may contain the
// work of all other streams or steps, so it is summed up with prefix sums instead of interval by
// interval.
#pragma once

#include <unordered_map>
#include <vector>

#include "epilogue/analysis/time/idle.h"

namespace epi::analysis {

// Sums over a set of intervals, and over the holes between them, in logarithmic time.
class BusyTimes {
 public:
  explicit BusyTimes(Intervals busy);

  struct Sums {
    int64_t busy_ns = 0;
    int64_t short_ns = 0;  // holes that launch latency explains
    int64_t long_ns = 0;   // holes that it does not explain
    void add_hole(const Interval& hole);
  };
  // Holes are clipped to the interval before they are judged.
  Sums in(const Interval& when) const;
  // The start and the end of the hole around `ns`. Both are `ns` if it is inside an interval.
  int64_t idle_since(int64_t ns) const;
  int64_t idle_until(int64_t ns) const;
  const Intervals& intervals() const { return busy_; }

 private:
  // The first interval that ends after `ns`.
  size_t first_after(int64_t ns) const;

  Intervals busy_;
  std::vector<Sums> before_;  // of the intervals and holes before each interval
};

// The activity of threads, summed up in logarithmic time.
class HostTimes {
 public:
  explicit HostTimes(const HostTimeline& host) : host_(host) {}
  // Adds what a thread did in [begin, end).
  void add(trace::LaneId lane, const Interval& when, IdleCauses& causes);

 private:
  static constexpr size_t kSumsEvery = 16;

  struct Lane {
    std::vector<ActivityTimes> sums;  // before every kSumsEvery-th segment
    size_t place = 0;                 // of the previous call
  };
  Lane& lane_of(trace::LaneId lane);

  const HostTimeline& host_;
  std::unordered_map<trace::LaneId, Lane> lanes_;
};

// Whose work the device ran otherwise. Other streams explain gaps before work that was already
// launched. Other steps explain every gap that their work covers.
enum class OtherWork : uint8_t { kStreams, kSteps };

// `busy` is all work of the device.
IdleCauses idle_causes(const TraceIndex& index, const HostTimeline& host, HostTimes& host_times,
                       const WindowedWork& windowed, OtherWork other, const BusyTimes& busy);

}  // namespace epi::analysis
