// SPDX-License-Identifier: Apache-2.0
// What a page draws: the events of each thread and stream, in rows. Of large traces some are kept
// one by one: the longest kernels with what launched them, and the longest of the others. All of
// them are also summed up in levels of detail, each for a range of zooms.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

// One long event, or several short ones that begin closer together than can be told apart.
struct TimelineSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t busy_ns = 0;  // of them all
  int64_t count = 0;
  trace::EventId longest = trace::kNoEvent;
};
using TimelineRow = std::vector<TimelineSpan>;  // by begin, none over another

struct TimelineLane {
  std::string name;  // "thread 1234", "GPU 0 stream 7"
  bool is_device = false;
  std::vector<trace::EventId> events;            // kept, by begin, the longer first
  std::vector<uint8_t> rows;                     // of each of them, counted from the top
  std::vector<std::vector<TimelineRow>> levels;  // of every event, kept or not; like `cells_ns`
};

struct Timeline {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::vector<TimelineLane> lanes;  // the CPU's first, then devices', then Python's
  // What a level tells apart, the coarsest first. There is none where events are few.
  std::vector<int64_t> cells_ns;
  int64_t left_out = 0;  // events that are in levels only
  int64_t too_deep = 0;  // events below the last row, in nothing
};

inline constexpr size_t kTimelineRows = 128;

// Some `most` events are kept; levels have at most as many spans as that, together.
Timeline make_timeline(const TraceIndex& index, size_t most);

}  // namespace epi::analysis
