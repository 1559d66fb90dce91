// SPDX-License-Identifier: Apache-2.0
// Builds the graph of one step: its threads, its device work, and what each work waited for.
#include <algorithm>
#include <map>

#include "epilogue/analysis/time/idle.h"
#include "epilogue/analysis/time/step_graph.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;
using trace::LaneId;

// What lies between a launch and its kernel, and between two kernels of a stream, at least: where
// something else came later, the recorded gap is longer and says nothing about it.
constexpr int64_t kUsualLatencyNs = 5000;
constexpr int64_t kUsualGapNs = 1500;
// A launch returns late where so much is queued that the runtime takes no more.
constexpr int64_t kFullQueue = 512;
// Works that are looked at for the one before.
constexpr int kMaxTries = 16;
// Threads that are active at the same time for less than this share work one after the other.
constexpr double kAlternating = 0.1;

bool is_active(const HostTimeline::Segment& segment) {
  return segment.activity != HostActivity::kBetweenOps;
}

int64_t overlap(const Intervals& a, const Intervals& b) {
  return length(a) - length(without(a, b));
}

}  // namespace

// Builds one graph.
class StepGraphs::Builder {
 public:
  Builder(const StepGraphs& graphs, const StepWindow& window)
      : graphs_(graphs), index_(graphs.index_), trace_(index_.trace), window_(window) {
    graph_.begin_ns_ = window.begin_ns;
    graph_.end_ns_ = window.end_ns;
    begin_ = graph_.add_node(window.begin_ns);
    end_ = graph_.add_node(window.end_ns);
  }

  StepGraph build() {
    collect_work();
    add_threads();
    for (size_t i = 0; i < work_.size(); ++i) add_work(i);
    for (size_t i = 0; i < threads_.size(); ++i) add_thread_edges(i);
    add_ends();
    graph_.finish();
    return std::move(graph_);
  }

 private:
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

  void collect_work() {
    for (const EventId id : graphs_.work_in({window_.begin_ns, window_.end_ns})) {
      if (trace_.end_ns(id) > window_.end_ns) continue;
      work_.push_back(
          {id, trace_.ts_ns[id], trace_.end_ns(id), usual_bound_of_work(index_, id), 0, 0});
    }
    for (size_t i = 0; i < work_.size(); ++i) {
      by_end_.push_back(i);
      place_[work_[i].id] = i;
      asked_.push_back(index_.links.asked_ns[work_[i].id]);
      begun_.push_back(work_[i].begin);
      const EventId launch = index_.links.launch[work_[i].id];
      if (launch != kNoEvent) last_of_call_[launch] = i;
    }
    std::sort(asked_.begin(), asked_.end());
    std::stable_sort(by_end_.begin(), by_end_.end(),
                     [&](size_t a, size_t b) { return work_[a].end < work_[b].end; });
  }

  // The step's own thread, and those that launched its work.
  void add_threads() {
    std::vector<LaneId> lanes = {window_.thread};
    for (const Work& work : work_) {
      const EventId launch = index_.links.launch[work.id];
      const EventId host = launch != kNoEvent ? launch : index_.links.op[work.id];
      if (host == kNoEvent || trace_.ts_ns[host] < window_.begin_ns) continue;
      const LaneId lane = trace_.lane[host];
      if (std::find(lanes.begin(), lanes.end(), lane) == lanes.end()) lanes.push_back(lane);
    }
    for (const LaneId lane : lanes) {
      Thread thread{lane, {}, {}, {}, {}};
      const int64_t end = lane == window_.thread ? window_.host_end_ns : window_.end_ns;
      thread.segments = graphs_.host_.segments(lane, window_.begin_ns, end);
      thread.nodes.push_back(begin_);
      for (const auto& one : thread.segments) {
        thread.nodes.push_back(graph_.add_node(one.end));
        if (!is_active(one)) continue;
        thread.active.push_back({one.begin, one.end});
        thread.active_ends.push_back(one.end);
      }
      thread.active = united(std::move(thread.active));
      threads_.push_back(std::move(thread));
    }
  }

  // The last change of a thread's activity at or before a moment.
  size_t place_at(const Thread& thread, int64_t ns) const {
    const auto at =
        std::upper_bound(thread.segments.begin(), thread.segments.end(), ns,
                         [](int64_t value, const auto& one) { return value < one.end; });
    return static_cast<size_t>(at - thread.segments.begin());
  }

  const Thread* thread_of(LaneId lane) const {
    for (const Thread& thread : threads_) {
      if (thread.lane == lane) return &thread;
    }
    return nullptr;
  }

  void add_work(size_t place) {
    Work& work = work_[place];
    work.to = graph_.add_node(work.end);
    const LaneId stream = trace_.lane[work.id];
    if (work.begin < window_.begin_ns) {
      graph_.add_edge({begin_, work.to, work.end - window_.begin_ns, work.bound, EdgeKind::kTakes,
                       work.id, trace_.dur_ns[work.id]});
      last_of_stream_[stream] = place;
      return;
    }
    work.from = graph_.add_node(work.begin);
    if (add_called(place)) {
      graph_.add_edge({work.from, work.to, work.end - work.begin, work.bound, EdgeKind::kTakes,
                       work.id, work.end - work.begin});
      last_of_stream_[stream] = place;
      return;
    }
    graph_.add_edge({work.from, work.to, work.end - work.begin, work.bound, EdgeKind::kTakes,
                     work.id, work.end - work.begin});
    std::vector<Reason> reasons;
    add_launch(work, reasons);
    add_stream_order(work, stream, reasons);
    add_other_streams(work, stream, reasons);
    add_recorded_order(work, stream);
    last_of_stream_[stream] = place;
    add_reasons(work, reasons);
  }

  // The last work of another stream that had ended.
  void add_recorded_order(const Work& work, LaneId stream) {
    auto at = std::upper_bound(by_end_.begin(), by_end_.end(), work.begin,
                               [&](int64_t ns, size_t i) { return ns < work_[i].end; });
    for (int tries = 0; at != by_end_.begin() && tries < kMaxTries; ++tries) {
      const Work& other = work_[*--at];
      if (trace_.lane[other.id] == stream) return;  // the stream's own order says more
      const bool same_device = trace_.lanes[trace_.lane[other.id]].pid == trace_.lanes[stream].pid;
      if (!same_device || other.to == 0 || other.id == work.id) continue;
      graph_.add_edge({other.to, work.from, 0, Bound::kLaunches, EdgeKind::kOrder, kNoEvent, 0});
      return;
    }
  }

  // A kernel of the CPU is called by its operator, which goes on when it is done.
  bool add_called(size_t place) {
    const Work& work = work_[place];
    const EventId op = index_.links.op[work.id];
    const bool called = index_.links.launch[work.id] == kNoEvent && op != kNoEvent &&
                        trace_.ts_ns[op] <= work.begin && work.end <= trace_.end_ns(op);
    const Thread* thread = called ? thread_of(trace_.lane[op]) : nullptr;
    if (thread == nullptr) return false;
    const size_t at = place_at(*thread, work.begin);
    if (at >= thread->segments.size() || work.end > thread->segments[at].end) return false;
    const auto& segment = thread->segments[at];
    auto& others = called_[{thread->lane, at}];
    const bool first = others.empty();
    const Node from = first ? thread->nodes[at] : work_[others.back()].to;
    const int64_t from_ns = first ? segment.begin : work_[others.back()].end;
    if (from_ns > work.begin) return false;  // two at once: not one after the other
    graph_.add_edge({from, work.from, work.begin - from_ns, bound_of(segment.activity),
                     EdgeKind::kTakes, segment.event, own_ns(segment)});
    others.push_back(place);
    return true;
  }

  int64_t own_ns(const HostTimeline::Segment& segment) const {
    return segment.event == kNoEvent ? 0 : trace_.dur_ns[segment.event];
  }

  void add_launch(const Work& work, std::vector<Reason>& reasons) {
    const EventId launch = index_.links.launch[work.id];
    if (launch == kNoEvent || trace_.ts_ns[launch] < window_.begin_ns) return;
    const Thread* thread = thread_of(trace_.lane[launch]);
    const int64_t called = trace_.ts_ns[launch];
    const bool inside = thread != nullptr && called <= work.begin && !thread->segments.empty() &&
                        called < thread->segments.back().end;
    if (!inside) return;
    const size_t at = place_at(*thread, called);
    const auto& segment = thread->segments[at];
    const int64_t released =
        std::clamp(graphs_.host_.issued_ns(trace_, launch), called, work.begin);
    const Node ready = graph_.add_node(released);
    graph_.add_edge({thread->nodes[at], ready, released - segment.begin, bound_of(segment.activity),
                     EdgeKind::kTakes, launch, trace_.dur_ns[launch]});
    reasons.push_back({ready, released, kUsualLatencyNs});
  }

  void add_stream_order(const Work& work, LaneId stream, std::vector<Reason>& reasons) {
    const auto last = last_of_stream_.find(stream);
    if (last == last_of_stream_.end()) return;
    const Work& before = work_[last->second];
    if (before.end <= work.begin) {
      reasons.push_back({before.to, before.end, kUsualGapNs});
    } else if (before.begin >= window_.begin_ns) {
      // It may begin before the other ends: then it followed its begin.
      reasons.push_back({before.from, work.begin, 0, true, last->second});
    }
  }

  void add_other_streams(const Work& work, LaneId stream, std::vector<Reason>& reasons) {
    if (graphs_.knows_stream_waits_) {
      const auto waits = graphs_.stream_waits_.find(stream);
      if (waits == graphs_.stream_waits_.end()) return;
      // Every wait between the launch before and this one: a stream may join several.
      const auto last = last_of_stream_.find(stream);
      const int64_t before =
          last == last_of_stream_.end() ? INT64_MIN : index_.links.asked_ns[work_[last->second].id];
      auto wait = std::upper_bound(
          waits->second.begin(), waits->second.end(), index_.links.asked_ns[work.id],
          [](int64_t ns, const StreamWait& one) { return ns < one.asked_ns; });
      while (wait != waits->second.begin()) {
        --wait;
        if (wait->asked_ns <= before) break;
        const auto found = place_.find(wait->work);
        if (found == place_.end()) continue;
        const Work& other = work_[found->second];
        const bool earlier = other.end <= work.begin && other.to != 0 && other.id != work.id;
        if (earlier) reasons.push_back({other.to, other.end, kUsualGapNs});
      }
      return;
    }
    // Without such events: it began when work of another stream ended, and later than its own
    // stream and its launch explain.
    int64_t explained = INT64_MIN;
    for (const Reason& reason : reasons) {
      explained = std::max(explained, reason.takes ? work.begin : reason.from_ns);
    }
    if (explained != INT64_MIN && work.begin - explained <= 2 * kUsualLatencyNs) return;
    auto at = std::upper_bound(by_end_.begin(), by_end_.end(), work.begin,
                               [&](int64_t ns, size_t i) { return ns < work_[i].end; });
    while (at != by_end_.begin()) {
      const Work& other = work_[*--at];
      if (other.end <= explained) return;
      const bool same_device = trace_.lanes[trace_.lane[other.id]].pid == trace_.lanes[stream].pid;
      if (trace_.lane[other.id] == stream || !same_device || other.begin > work.begin ||
          other.to == 0) {
        continue;
      }
      reasons.push_back({other.to, other.end, kUsualGapNs});
      return;
    }
  }

  // The latest reason explains the begin, with all that lies between; the others lie at least their
  // usual time before it.
  void add_reasons(const Work& work, const std::vector<Reason>& reasons) {
    const auto time_of = [&](const Reason& reason) {
      return reason.takes ? work.begin : reason.from_ns;
    };
    if (reasons.empty()) {
      const int64_t ns = work.begin - window_.begin_ns;
      const bool short_wait = ns <= kLongestLatencyNs && index_.links.launch[work.id] != kNoEvent;
      graph_.add_edge({begin_, work.from, ns, short_wait ? Bound::kLaunches : Bound::kNotInFile,
                       EdgeKind::kFollows, work.id, 0});
      return;
    }
    const auto latest =
        std::max_element(reasons.begin(), reasons.end(),
                         [&](const Reason& a, const Reason& b) { return time_of(a) < time_of(b); });
    for (auto reason = reasons.begin(); reason != reasons.end(); ++reason) {
      if (reason->takes) {
        const Work& before = work_[reason->before];
        graph_.add_edge({before.from, work.from, work.begin - before.begin, before.bound,
                         EdgeKind::kTakes, before.id, trace_.dur_ns[before.id]});
        continue;
      }
      const int64_t gap = work.begin - reason->from_ns;
      const EventId launch = index_.links.launch[work.id];
      const bool staged = launch != kNoEvent && graphs_.host_.waits_for_own_copy(launch);
      const bool is_long = gap > kLongestLatencyNs && !staged;
      const int64_t ns = reason == latest ? gap : std::min(gap, reason->usual_ns);
      graph_.add_edge({reason->from, work.from, ns,
                       reason == latest && is_long ? Bound::kNotInFile : Bound::kLaunches,
                       EdgeKind::kFollows, work.id, 0});
    }
  }

  void add_thread_edges(size_t place) {
    const Thread& thread = threads_[place];
    for (size_t i = 0; i < thread.segments.size(); ++i) {
      const auto& segment = thread.segments[i];
      const Node from = thread.nodes[i];
      const Node to = thread.nodes[i + 1];
      const int64_t ns = segment.end - segment.begin;
      const int64_t event_ns = own_ns(segment);
      const auto called = called_.find({thread.lane, i});
      if (called != called_.end()) {
        const Work& last = work_[called->second.back()];
        int64_t without_ns = ns;
        for (const size_t one : called->second) without_ns -= work_[one].end - work_[one].begin;
        graph_.add_edge({last.to, to, segment.end - last.end, bound_of(segment.activity),
                         EdgeKind::kTakes, segment.event, event_ns});
        graph_.add_edge({from, to, std::max<int64_t>(0, without_ns), bound_of(segment.activity),
                         EdgeKind::kTakes, segment.event, event_ns});
        continue;
      }
      if (const Work* copy = copied_meanwhile(segment)) {
        graph_.add_edge({copy->from, to, segment.end - copy->begin, copy->bound, EdgeKind::kTakes,
                         copy->id, trace_.dur_ns[copy->id]});
        graph_.add_edge({from, to, std::min(ns, kUsualLatencyNs), Bound::kLaunches,
                         EdgeKind::kFollows, segment.event, event_ns});
        continue;
      }
      if (const Work* work = waited_for(segment)) {
        const int64_t behind = segment.end - work->end;
        graph_.add_edge({work->to, to, behind, Bound::kSynchronizing, EdgeKind::kWaits,
                         segment.event, event_ns});
        graph_.add_edge({from, to, std::min(ns, behind), Bound::kSynchronizing, EdgeKind::kTakes,
                         segment.event, event_ns});
        continue;
      }
      if (const auto other = handed_over(place, segment)) {
        graph_.add_edge({other->from, to, segment.end - other->from_ns, Bound::kDispatch,
                         EdgeKind::kFollows, kNoEvent, 0});
        graph_.add_edge({from, to, 0, Bound::kDispatch, EdgeKind::kFollows, kNoEvent, 0});
        continue;
      }
      const bool before_file = graphs_.host_.is_before_file(thread.lane, segment);
      const bool unexplained = before_file || (segment.activity == HostActivity::kSynchronizing &&
                                               ns > kLongestLatencyNs);
      graph_.add_edge({from, to, ns, unexplained ? Bound::kNotInFile : bound_of(segment.activity),
                       EdgeKind::kTakes, segment.event, event_ns});
    }
  }

  // Of a call that returns when nearly all of its own copy is done: that copy.
  const Work* copied_meanwhile(const HostTimeline::Segment& segment) const {
    if (segment.activity != HostActivity::kSynchronizing) return nullptr;
    const auto own = last_of_call_.find(segment.event);
    if (own == last_of_call_.end()) return nullptr;
    const Work& work = work_[own->second];
    const bool ends_later = work.end > segment.end && segment.end == trace_.end_ns(segment.event);
    return ends_later && work.begin >= window_.begin_ns && work.begin < segment.end ? &work
                                                                                    : nullptr;
  }

  // Of a call that returns when work of the device is done: that work. None where all was done
  // before it began.
  const Work* waited_for(const HostTimeline::Segment& segment) const {
    if (segment.event == kNoEvent) return nullptr;
    // A call has several segments where others lie inside of it; it waits in the last one.
    const bool is_last =
        segment.end == trace_.end_ns(segment.event) || segment.end == window_.host_end_ns;
    if (!is_last) return nullptr;
    const bool waits = segment.activity == HostActivity::kSynchronizing;
    if (!waits && !is_full_queue(segment)) return nullptr;
    const auto own = last_of_call_.find(segment.event);
    if (waits && own != last_of_call_.end()) {
      const Work& work = work_[own->second];
      return work.end <= segment.end && work.end > segment.begin ? &work : nullptr;
    }
    const auto stream = graphs_.waits_for_stream_.find(segment.event);
    auto at = std::upper_bound(by_end_.begin(), by_end_.end(), segment.end,
                               [&](int64_t ns, size_t i) { return ns < work_[i].end; });
    while (at != by_end_.begin()) {
      const Work& work = work_[*--at];
      if (work.end <= segment.begin) return nullptr;
      const bool launched_later = index_.links.launch[work.id] != kNoEvent &&
                                  index_.links.asked_ns[work.id] >= trace_.ts_ns[segment.event];
      if (launched_later) continue;
      if (stream != graphs_.waits_for_stream_.end() && trace_.lane[work.id] != stream->second) {
        continue;
      }
      return &work;
    }
    return nullptr;
  }

  // So much was launched and not begun that the runtime waits before it takes more.
  bool is_full_queue(const HostTimeline::Segment& segment) const {
    const bool is_long = segment.end - segment.begin > kLongestLatencyNs;
    if (segment.activity != HostActivity::kLaunching || !is_long) return false;
    const auto launched = std::lower_bound(asked_.begin(), asked_.end(), segment.begin);
    const auto begun = std::upper_bound(begun_.begin(), begun_.end(), segment.end);
    return (launched - asked_.begin()) - (begun - begun_.begin()) >= kFullQueue;
  }

  // Where a thread does nothing that is recorded, and another one that is active only while this
  // one is not ends something: that is what it waited for.
  std::optional<Reason> handed_over(size_t place, const HostTimeline::Segment& segment) {
    if (is_active(segment) || threads_.size() < 2) return std::nullopt;
    std::optional<Reason> latest;
    for (size_t other = 0; other < threads_.size(); ++other) {
      if (other == place || !alternate(place, other)) continue;
      const Thread& thread = threads_[other];
      const auto& ends = thread.active_ends;
      const auto behind = std::lower_bound(ends.begin(), ends.end(), segment.end);
      if (behind == ends.begin()) continue;
      const int64_t ns = *std::prev(behind);
      if (ns <= segment.begin || (latest && ns <= latest->from_ns)) continue;
      // The node at the end of the segment that ends then.
      const size_t at = place_at(thread, ns - 1);
      latest = Reason{thread.nodes[at + 1], ns, 0};
    }
    return latest;
  }

  bool alternate(size_t a, size_t b) {
    const auto key = std::minmax(a, b);
    const size_t place = key.first * threads_.size() + key.second;
    const auto known = alternate_.find(place);
    if (known != alternate_.end()) return known->second;
    const Intervals& first = threads_[a].active;
    const Intervals& second = threads_[b].active;
    const auto shorter = static_cast<double>(std::min(length(first), length(second)));
    const bool result = static_cast<double>(overlap(first, second)) <= kAlternating * shorter;
    alternate_[place] = result;
    return result;
  }

  void add_ends() {
    for (const EventId id : window_.owned) {
      const auto found = place_.find(id);
      if (found == place_.end()) continue;
      graph_.add_edge(
          {work_[found->second].to, end_, 0, Bound::kMemory, EdgeKind::kFollows, kNoEvent, 0});
    }
    const Thread& own = threads_.front();
    graph_.add_edge({own.nodes.back(), end_, 0, Bound::kDispatch, EdgeKind::kFollows, kNoEvent, 0});
  }

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

StepGraph StepGraphs::graph(const StepWindow& window) const {
  return Builder(*this, window).build();
}

}  // namespace epi::analysis
