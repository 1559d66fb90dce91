// SPDX-License-Identifier: Apache-2.0
// Converts GPU records to trace events: API calls on the calling threads, work on its streams, flow
// arrows between the two, and the spans of annotations on streams.
#pragma once

#include <vector>

#include "epilogue/profile/args_text.h"
#include "epilogue/profile/gpu_links.h"
#include "epilogue/profile/gpu_records.h"
#include "epilogue/profile/op_ranges.h"
#include "epilogue/trace/trace.h"

namespace epi::profile {

// The process id of profiling overhead, as in Kineto's files.
inline constexpr int64_t kOverheadPid = -1;

struct GpuLaneInput {
  GpuRecords& records;  // add_gpu_lane sorts its work
  std::vector<Launch> launches;
  const OpRanges& ranges;
  TimeWindow window;
  int64_t pid = 0;
};

struct GpuLane {
  std::vector<trace::LaneId> streams;  // streams with events
  std::vector<trace::LaneId> threads;  // threads with API calls
  std::vector<trace::LaneId> overhead;
  int64_t shift_ns = 0;  // added to all GPU times
};

GpuLane add_gpu_lane(trace::Trace& trace, ArgsText& args, GpuLaneInput input);

// The spans of annotations on streams, from the first to the last work that was launched inside
// them.
class GpuAnnotations {
 public:
  GpuAnnotations(trace::Trace& trace, const OpRanges& ranges) : trace_(trace), ranges_(ranges) {}

  // Adds work that was launched inside `op` to the annotations around `op`.
  void add_work(trace::EventId work, trace::EventId op);
  // Adds one event per annotation and stream.
  void finish();

 private:
  struct Span {
    int64_t begin_ns = INT64_MAX;
    int64_t end_ns = INT64_MIN;
  };

  trace::Trace& trace_;
  const OpRanges& ranges_;
  std::map<std::pair<trace::EventId, trace::LaneId>, Span> spans_;  // by annotation and stream
};

}  // namespace epi::profile
