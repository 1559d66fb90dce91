// SPDX-License-Identifier: Apache-2.0
// Builds the graph of one step. Part of step_graph.h's implementation.
#pragma once

#include <map>

#include "epilogue/analysis/time/step_graph.h"

namespace epi::analysis {

// What lies between a launch and its kernel at least. Where something else came later, the recorded
// gap is longer and says nothing about it.
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
    std::vector<Node> nodes;  // one more than segments
    Intervals active;
    std::vector<int64_t> active_ends;
  };
  // What a work may have waited for: it was there at `ns`.
  struct Reason {
    Node from;
    int64_t from_ns;
    int64_t usual_ns;    // how long it takes from there at least
    bool takes = false;  // the work before it ran on: no gap
    size_t before = SIZE_MAX;
  };

  void collect_work();
  // The step's own thread, and those that launched its work.
  void add_threads();
  static bool is_active(const HostTimeline::Segment& segment) {
    return segment.activity != HostActivity::kBetweenOps;
  }
  // The last change of a thread's activity at or before a moment.
  size_t place_at(const Thread& thread, int64_t ns) const;
  const Thread* thread_of(LaneId lane) const;
  void add_work(size_t place);
  // A kernel of the CPU is called by its operator, which goes on when it is done.
  bool add_called(size_t place);
  int64_t own_ns(const HostTimeline::Segment& segment) const;
  void add_ends();

  // What device work waited for (step_graph_work.cpp).
  // The last work of another stream that had ended.
  void add_recorded_order(const Work& work, LaneId stream);
  void add_launch(const Work& work, std::vector<Reason>& reasons);
  void add_stream_order(const Work& work, LaneId stream, std::vector<Reason>& reasons);
  void add_other_streams(const Work& work, LaneId stream, std::vector<Reason>& reasons);
  // The latest reason explains the start, with all that lies between; the others lie at least their
  // usual time before it.
  void add_reasons(const Work& work, const std::vector<Reason>& reasons);

  // What threads waited for (step_graph_threads.cpp).
  void add_thread_edges(size_t place);
  // Of a call that returns when nearly all of its own copy is done: that copy.
  const Work* copied_meanwhile(const HostTimeline::Segment& segment) const;
  // Of a call that returns when work of the device is done: that work. None where all was done
  // before it began.
  const Work* waited_for(const HostTimeline::Segment& segment) const;
  // So much was launched and not begun that the runtime waits before it takes more.
  bool is_full_queue(const HostTimeline::Segment& segment) const;
  // Where a thread does nothing that is recorded, and another one that is active only while this
  // one is not ends something: that is what it waited for.
  std::optional<Reason> handed_over(size_t place, const HostTimeline::Segment& segment);
  bool alternate(size_t a, size_t b);

  const StepGraphs& graphs_;
  const TraceIndex& index_;
  const trace::Trace& trace_;
  const StepWindow& window_;
  StepGraph graph_;
  Node begin_ = 0;
  Node end_ = 0;
  std::vector<Work> work_;                            // by begin
  std::vector<size_t> by_end_;                        // places in it
  std::vector<int64_t> asked_;                        // sorted
  std::vector<int64_t> begun_;                        // sorted
  std::unordered_map<EventId, size_t> place_;         // of work
  std::unordered_map<EventId, size_t> last_of_call_;  // of a launch: its last work
  std::unordered_map<LaneId, size_t> last_of_stream_;
  std::vector<Thread> threads_;  // the step's own first
  // Of a thread's segment: the works that are called in it, in order.
  std::map<std::pair<LaneId, size_t>, std::vector<size_t>> called_;
  std::unordered_map<size_t, bool> alternate_;
};

}  // namespace epi::analysis
