// SPDX-License-Identifier: Apache-2.0
// A step as a graph of points in time. An edge is a minimum distance between two of them: host
// events in thread order, a launch before its kernel, kernels in stream order, a wait after the
// work it waits for. The longest path through the graph is the critical path, and it is as long as
// the step. Shortening edges predicts the step's time after a change.
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

// A part of the critical path. Parts are contiguous.
struct PathPart {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  Bound bound = Bound::kDispatch;
  // The host event or device work that takes this time. For a latency, the delayed work.
  trace::EventId event = trace::kNoEvent;
  // kCompute and kMemory: the trace gives the kernel's FLOPs or bytes. Otherwise the bound is the
  // typical one of its kind.
  bool is_measured = false;
};

// The time range and the work that a graph covers: of one step, or of several in order.
struct StepWindow {
  struct Step {
    int64_t host_end_ns = 0;            // its end on its thread
    std::vector<trace::EventId> owned;  // work that its end waits for
    // The call at its end that waits for the device, which any program needs. Often none.
    trace::EventId closing_sync = trace::kNoEvent;
  };
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // end of the last step and of all work that the steps own
  trace::LaneId thread = 0;
  std::vector<Step> steps;

  int64_t host_end_ns() const { return steps.back().host_end_ns; }
};

// A hypothetical change to a step.
struct StepChange {
  std::unordered_map<trace::EventId, double> durations;  // new duration in nanoseconds
  // Scale of each bound's time. 0 removes it. For host activity and latencies.
  std::array<double, kBounds> scale;
  // The same for host time outside of operators and calls.
  double outside_ops = 1;

  StepChange() { scale.fill(1); }
  bool is_none() const;
  bool has_faster_host() const { return scale[static_cast<size_t>(Bound::kDispatch)] < 1; }
};
// A step after a change.
struct RetimedStep {
  int64_t window_ns = 0;
  BoundTimes bounds{};  // of its critical path; sums up to the window
};

// How long a step takes, and how long it takes if one limiter's time is 0: device work then takes
// no time but keeps its order, host activities take no time, and calls do not wait for the device,
// except at the end of a step.
struct StepWithout {
  double ns = 0;
  std::array<double, kLimiters> without_ns{};

  void add(const StepWithout& other);
  // The share of the step's time that goes away. Negative if it becomes longer.
  double saves(Limiter limiter) const;
};

class StepGraph {
 public:
  int64_t window_ns() const { return end_ns_ - begin_ns_; }
  // From the window's start to its end. The parts sum up to `window_ns()`. Kernels have the typical
  // bound of their kind.
  std::vector<PathPart> critical_path() const;
  // A waiting call whose new duration is 0 no longer waits.
  RetimedStep retimed(const StepChange& change) const;
  // Each step of the window without each limiter. A step starts when the previous one ends.
  std::vector<StepWithout> without_each() const;
  // The only step without each limiter if it ended with the host, before its own work may have.
  StepWithout without_each_on_host() const;
  // Each step without two limiters.
  std::vector<double> without_ns(Limiter a, Limiter b) const;

 private:
  friend class StepGraphs;
  using Node = uint32_t;
  // kOrder: the recorded order between streams. Only the host may have enforced it, so it counts
  // only if the host is assumed to be faster.
  enum class EdgeKind : uint8_t { kTakes, kWaits, kFollows, kOrder };
  struct Edge {
    Node from;
    Node to;
    int64_t ns;
    Bound bound;
    EdgeKind kind;
    trace::EventId event;
    int64_t event_ns;  // the event's duration; an edge may cover a part of it
    bool is_outside_ops = false;
    bool is_closing = false;  // of the call that ends a step by waiting
  };
  using LimiterSet = uint32_t;  // one bit for each limiter

  // None: the edge is removed.
  static std::optional<int64_t> changed_ns(const Edge& edge, const StepChange& change);
  Node add_node(int64_t ns);
  void add_edge(const Edge& edge) { edges_.push_back(edge); }
  // Sorts nodes topologically.
  void finish();
  // The times of nodes, from the start of the window, without each of some sets of limiters.
  static constexpr size_t kSets = kLimiters - 1;  // kNotInTrace always takes its time
  using Sets = std::array<LimiterSet, kSets>;
  using SetTimes = std::array<double, kSets>;
  static Sets each_limiter();
  std::vector<SetTimes> times_without(const Sets& sets, std::span<const Node> nodes) const;

  int64_t begin_ns_ = 0;
  int64_t end_ns_ = 0;
  std::vector<int64_t> times_;        // of nodes; node 0 is the start, node 1 the end
  std::vector<Edge> edges_;           // by target node
  std::vector<uint32_t> first_edge_;  // index of each node's first edge, plus one past the end
  std::vector<Node> order_;
  std::vector<Node> step_ends_;
  Node host_end_ = 0;  // of the last step
};

// Builds graphs of one trace's steps.
class StepGraphs {
 public:
  // Both must outlive it.
  StepGraphs(const TraceIndex& index, const HostTimeline& host);

  StepGraph graph(const StepWindow& window) const;
  // Replaces the typical bound of each compute-bound kernel by the measured one.
  std::vector<PathPart> refined(std::vector<PathPart> path) const;
  // Device work that starts until the end of a window and ends after its start, sorted by start.
  std::vector<trace::EventId> work_in(const Interval& window) const;
  const HostTimeline& host() const { return host_; }

 private:
  class Builder;
  // A stream wait for the work before a recorded event, from `cuda_sync` events.
  struct StreamWait {
    int64_t launch_ns;
    trace::EventId work;  // the last work that it waits for
  };
  void read_stream_waits();
  std::vector<int64_t> latest_ends() const;

  const TraceIndex& index_;
  const HostTimeline& host_;
  std::optional<GpuPeaks> peaks_;
  std::vector<trace::EventId> work_;  // all device work, by start
  // A binary tree over `work_`, root at 1 and children of i at 2 i and 2 i + 1: the latest end of
  // the work in each subtree. Work can run longer than all that starts after it.
  std::vector<int64_t> latest_end_;
  bool has_stream_waits_ = false;
  std::unordered_map<trace::LaneId, std::vector<StreamWait>> stream_waits_;  // by time
  std::unordered_map<trace::EventId, trace::LaneId> waits_for_stream_;  // by synchronizing call
};

}  // namespace epi::analysis
