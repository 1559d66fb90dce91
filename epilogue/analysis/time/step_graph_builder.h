// SPDX-License-Identifier: Apache-2.0
// Builds the graph of one step. Part of step_graph.h's implementation.
#pragma once

#include <map>
#include <unordered_set>

#include "epilogue/analysis/time/step_graph.h"

namespace epi::analysis {

// Minimum latency between a launch and its kernel. If the kernel waited for something else, the
// recorded gap is longer and not usable.
inline constexpr int64_t kTypicalLatencyNs = 5000;

class StepGraphs::Builder {
 public:
  Builder(const StepGraphs& graphs, const StepWindow& window)
      : graphs_(graphs), index_(graphs.index_), trace_(index_.trace), window_(window) {
    graph_.begin_ns_ = window.begin_ns;
    graph_.end_ns_ = window.end_ns;
    begin_ = graph_.add_node(window.begin_ns);
    end_ = graph_.add_node(window.end_ns);
  }
  StepGraph build();

 private:
  using EventId = trace::EventId;
  using LaneId = trace::LaneId;
  using Node = StepGraph::Node;
  using EdgeKind = StepGraph::EdgeKind;

  struct Work {
    EventId id;
    int64_t begin;
    int64_t end;
    Bound bound;
    Node from;
    Node to;
  };
  struct Thread {
    LaneId lane;
    std::vector<HostTimeline::Segment> segments;
    std::vector<Node> nodes;  // one more than `segments`
    Intervals active;
    std::vector<int64_t> active_ends;
  };
  // Something that work may have waited for, completed at `from_ns`.
  struct Reason {
    Node from;
    int64_t from_ns;
    int64_t min_ns;         // minimum delay from there
    bool overlaps = false;  // the previous work overlaps: no gap
    size_t before = SIZE_MAX;
  };

  void collect_work();
  void add_threads();
  // The step's thread, and the threads that launched most of its work.
  std::vector<LaneId> launching_lanes() const;
  static bool is_active(const HostTimeline::Segment& segment) {
    return segment.activity != HostActivity::kBetweenOps;
  }
  // The segment of a thread at time `ns`.
  size_t segment_at(const Thread& thread, int64_t ns) const;
  const Thread* thread_of(LaneId lane) const;
  void add_work(size_t place);
  // Handles a kernel of the CPU backend, which its operator calls and waits for.
  bool add_cpu_kernel(size_t place);
  int64_t own_ns(const HostTimeline::Segment& segment) const;
  void add_ends();
  Node host_end_node(int64_t ns) const;

  // What device work waited for (step_graph_work.cpp).

  // Adds an edge from the last work of another stream that had ended.
  void add_recorded_order(const Work& work, LaneId stream);
  void add_launch(const Work& work, std::vector<Reason>& reasons);
  void add_stream_order(const Work& work, LaneId stream, std::vector<Reason>& reasons);
  void add_other_streams(const Work& work, LaneId stream, std::vector<Reason>& reasons);
  // The latest reason explains the start, with the whole delay after it. The others only require
  // their minimum delay.
  void add_reasons(const Work& work, const std::vector<Reason>& reasons);

  // What threads waited for (step_graph_threads.cpp).
  void add_thread_edges(size_t place);
  // The copy of a call that returns when nearly all of its own copy is done.
  const Work* own_copy(const HostTimeline::Segment& segment) const;
  // The work of a call that returns when device work is done. None if all work was done before the
  // call started.
  const Work* waited_for(const HostTimeline::Segment& segment) const;
  // True if so much launched work has not started that the runtime blocks.
  bool is_full_queue(const HostTimeline::Segment& segment) const;
  // For a thread without recorded activity: the end of the last activity of another thread that is
  // active only while this one is not. That is what the thread waited for.
  std::optional<Reason> handoff(size_t place, const HostTimeline::Segment& segment);
  bool alternate(size_t a, size_t b);

  const StepGraphs& graphs_;
  const TraceIndex& index_;
  const trace::Trace& trace_;
  const StepWindow& window_;
  StepGraph graph_;
  Node begin_ = 0;
  Node end_ = 0;
  std::vector<Work> work_;                            // by start
  std::vector<size_t> by_end_;                        // indices into `work_`
  std::vector<int64_t> launch_times_;                 // sorted
  std::vector<int64_t> start_times_;                  // sorted
  std::unordered_map<EventId, size_t> work_index_;    // by event
  std::unordered_map<EventId, size_t> last_of_call_;  // by launch: its last work
  std::unordered_map<LaneId, size_t> last_of_stream_;
  std::vector<Thread> threads_;  // the step's thread first
  // The kernels called in a thread's segment, in order.
  std::map<std::pair<LaneId, size_t>, std::vector<size_t>> cpu_kernels_;
  std::unordered_map<size_t, bool> alternate_;
  std::unordered_set<EventId> closing_;  // calls that end a step by waiting
};

}  // namespace epi::analysis
