// SPDX-License-Identifier: Apache-2.0
// The timeline of the report page: the events of each thread and stream, in rows. Large traces keep
// only some events individually: the longest kernels with their launch chain, and the longest of
// the rest. Levels of detail summarize all events, each for a range of zoom factors. Only the
// busiest threads and streams have a lane.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

// One long event, or several short ones that start closer together than the level resolves.
struct TimelineSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t busy_ns = 0;  // sum over all of them
  int64_t count = 0;
  trace::EventId longest = trace::kNoEvent;
};
using TimelineRow = std::vector<TimelineSpan>;  // by start, without overlap

struct TimelineLane {
  std::string name;  // "thread 1234", "GPU 0 stream 7"
  bool is_device = false;
  bool is_python = false;
  int64_t pid = 0;                               // of the process, or the number of the device
  std::vector<trace::EventId> events;            // those kept, by start, longer first
  std::vector<uint8_t> rows;                     // row of each event, counted from the top
  std::vector<std::vector<TimelineRow>> levels;  // all events, kept or not; indexed like `cells_ns`
};

struct Timeline {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::vector<TimelineLane>
      lanes;  // devices, then CPU threads, then Python; of those, the busiest first
  // Resolution of each level, coarsest first. Empty if there are few events.
  std::vector<int64_t> cells_ns;
  int64_t left_out = 0;  // events that only levels contain
  int64_t too_deep = 0;  // events below the last row, not contained anywhere
  int64_t streams_left_out = 0;
  int64_t left_out_stream_ns = 0;  // sum of their GPU events
  int64_t stream_ns = 0;           // sum of the GPU events of all streams
  int64_t threads_left_out = 0;
};

inline constexpr size_t kTimelineRows = 128;
// More lanes cannot be read on a screen. Each one takes space in the page.
inline constexpr size_t kMaxStreamsPerDevice = 64;
inline constexpr size_t kMaxTimelineLanes = 1024;  // of threads, of streams, and of Python

// Keeps the lanes with the most time, and about `most` of their events individually. All levels
// together have at most about as many spans.
Timeline make_timeline(const TraceIndex& index, size_t most);

}  // namespace epi::analysis
