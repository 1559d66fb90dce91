// SPDX-License-Identifier: Apache-2.0
// A step as a graph of moments. An edge says that one moment cannot come earlier than so long after
// another: host events in the order of their thread, a launch before its kernel, kernels in the
// order of their stream, a wait after the work that it waits for. The longest way through the graph
// is the critical path; it is as long as the step. With shorter edges the step can be timed again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/time/bound.h"
#include "epilogue/analysis/time/host_activity.h"

namespace epi::analysis {

// A part of the critical path. Parts follow each other without a gap.
struct PathPart {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  Bound bound = Bound::kDispatch;
  // The host event or device work that takes this time. Of a latency the work that comes late.
  trace::EventId event = trace::kNoEvent;
};

// What a step's graph is made of.
struct StepWindow {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;       // of the step and all work that it owns
  int64_t host_end_ns = 0;  // of the step on its thread
  trace::LaneId thread = 0;
  std::vector<trace::EventId> owned;  // work whose end ends the step
};

// What would be different in a step.
struct StepChange {
  std::unordered_map<trace::EventId, double> durations;  // nanoseconds that an event would take
  // Of every bound's time: 0 leaves it out. For what the host does, and for latencies.
  std::array<double, kBounds> scale;

  StepChange() { scale.fill(1); }
  bool is_none() const;
  bool has_faster_host() const { return scale[static_cast<size_t>(Bound::kDispatch)] < 1; }
};
// A step timed again.
struct RetimedStep {
  int64_t window_ns = 0;
  BoundTimes bounds{};  // of its critical path; they add up to the window
};

class StepGraph {
 public:
  int64_t window_ns() const { return end_ns_ - begin_ns_; }
  // From the start of the window to its end; the parts add up to `window_ns()`. What kernels are
  // bound by is what their kind usually is.
  std::vector<PathPart> critical_path() const;
  // A call that waits and would take 0 does not wait any more.
  RetimedStep retimed(const StepChange& change) const;

 private:
  friend class StepGraphs;
  using Node = uint32_t;
  // kOrder: as recorded between streams. Nothing but the host may have kept it, so that it counts
  // where the host is taken to be faster.
  enum class EdgeKind : uint8_t { kTakes, kWaits, kFollows, kOrder };
  struct Edge {
    Node from;
    Node to;
    int64_t ns;
    Bound bound;
    EdgeKind kind;
    trace::EventId event;
    int64_t event_ns;  // the event's own duration; edges of it may be a part
  };

  // None: the edge is gone.
  static std::optional<int64_t> changed_ns(const Edge& edge, const StepChange& change);
  Node add_node(int64_t ns);
  void add_edge(const Edge& edge) { edges_.push_back(edge); }
  // Orders nodes so that every edge leads forward.
  void finish();

  int64_t begin_ns_ = 0;
  int64_t end_ns_ = 0;
  std::vector<int64_t> times_;        // of nodes; the first is the start, the second the end
  std::vector<Edge> edges_;           // by the node that they lead to
  std::vector<uint32_t> first_edge_;  // of each node; one more at the end
  std::vector<Node> order_;
};

// Makes graphs of one trace's steps.
class StepGraphs {
 public:
  explicit StepGraphs(const TraceIndex& index);

  StepGraph graph(const StepWindow& window) const;
  // The same with what each kernel on it is bound by.
  std::vector<PathPart> critical_path(const StepGraph& graph) const;
  // Of an instance that owns this work. For the whole trace: of the thread with the most launches,
  // to the end of the last work.
  StepWindow window(const Instance& instance, const Owned& owned) const;

  // Device work that overlaps a window, by begin.
  std::vector<trace::EventId> work_in(const Interval& window) const;
  const HostTimeline& host() const { return host_; }
  const std::optional<GpuPeaks>& peaks() const { return peaks_; }

 private:
  class Builder;
  // A stream that waits for the work before a recorded event, as `cuda_sync` events say.
  struct StreamWait {
    int64_t asked_ns;
    trace::EventId work;  // the last one that it waits for
  };
  void read_stream_waits();

  const TraceIndex& index_;
  HostTimeline host_;
  std::optional<GpuPeaks> peaks_;
  std::vector<trace::EventId> work_;  // all device work, by begin
  std::vector<int64_t> latest_end_;   // of all up to each
  bool knows_stream_waits_ = false;
  std::unordered_map<trace::LaneId, std::vector<StreamWait>> stream_waits_;  // by time
  std::unordered_map<trace::EventId, trace::LaneId> waits_for_stream_;       // of a call
};

}  // namespace epi::analysis
