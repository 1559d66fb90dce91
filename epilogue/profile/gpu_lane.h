// SPDX-License-Identifier: Apache-2.0
// A GPU's records as events of a trace: calls on the threads that made them, work on the streams
// that ran it, arrows from one to the other, the spans that annotations have on the streams.
#pragma once

#include <vector>

#include "epilogue/profile/args_text.h"
#include "epilogue/profile/gpu_links.h"
#include "epilogue/profile/gpu_records.h"
#include "epilogue/profile/op_ranges.h"
#include "epilogue/trace/trace.h"

namespace epi::profile {

// The process of what recording itself cost, as in Kineto's files.
inline constexpr int64_t kOverheadPid = -1;

struct GpuLaneInput {
  GpuRecords& records;  // its work is put in order
  std::vector<Launch> launches;
  const OpRanges& ranges;
  TimeWindow window;
  int64_t pid = 0;
};

struct GpuLane {
  std::vector<trace::LaneId> streams;  // that have events
  std::vector<trace::LaneId> threads;  // that made calls
  std::vector<trace::LaneId> overhead;
  int64_t shift_ns = 0;  // by which the GPU's times were moved
};

GpuLane add_gpu_lane(trace::Trace& trace, ArgsText& args, GpuLaneInput input);

// The spans of annotations on streams: from the first to the last work started inside of them.
class GpuAnnotations {
 public:
  GpuAnnotations(trace::Trace& trace, const OpRanges& ranges) : trace_(trace), ranges_(ranges) {}

  // Work of the trace that was started inside `op`, and so in the annotations around it.
  void add_work(trace::EventId work, trace::EventId op);
  // Adds an event for each annotation and stream.
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
