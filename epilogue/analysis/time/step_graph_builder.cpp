// SPDX-License-Identifier: Apache-2.0
// Adds the nodes of a step: its threads, its device work, and its end.
#include "epilogue/analysis/time/step_graph_builder.h"

#include <algorithm>

namespace epi::analysis {
namespace {

using trace::kNoEvent;

// Each thread is compared with every other one. More threads do not launch the work of one step. If
// they do, the limit is noted.
constexpr size_t kMaxThreads = 64;

}  // namespace

StepGraph StepGraphs::Builder::build() {
  collect_work();
  for (const StepWindow::Step& step : window_.steps) closing_.insert(step.closing_sync);
  add_threads();
  for (size_t i = 0; i < work_.size(); ++i) add_work(i);
  for (size_t i = 0; i < threads_.size(); ++i) add_thread_edges(i);
  add_ends();
  graph_.finish();
  return std::move(graph_);
}

void StepGraphs::Builder::collect_work() {
  for (const EventId id : graphs_.work_in({window_.begin_ns, window_.end_ns})) {
    if (trace_.end_ns(id) > window_.end_ns) continue;
    work_.push_back(
        {id, trace_.ts_ns[id], trace_.end_ns(id), typical_bound_of_work(index_, id), 0, 0});
  }
  for (size_t i = 0; i < work_.size(); ++i) {
    by_end_.push_back(i);
    work_index_[work_[i].id] = i;
    launch_times_.push_back(index_.links.launch_ns[work_[i].id]);
    start_times_.push_back(work_[i].begin);
    const EventId launch = index_.links.launch[work_[i].id];
    if (launch != kNoEvent) last_of_call_[launch] = i;
  }
  std::sort(launch_times_.begin(), launch_times_.end());
  std::stable_sort(by_end_.begin(), by_end_.end(),
                   [&](size_t a, size_t b) { return work_[a].end < work_[b].end; });
}

void StepGraphs::Builder::add_threads() {
  for (const LaneId lane : launching_lanes()) {
    Thread thread{lane, {}, {}, {}, {}};
    const int64_t end = lane == window_.thread ? window_.host_end_ns() : window_.end_ns;
    thread.segments = graphs_.host_.segments(lane, window_.begin_ns, end);
    thread.nodes.push_back(begin_);
    for (const auto& one : thread.segments) {
      thread.nodes.push_back(graph_.add_node(one.end));
      if (!is_active(one)) continue;
      thread.active.push_back({one.begin, one.end});
      thread.active_ends.push_back(one.end);
    }
    thread.active = merged(std::move(thread.active));
    threads_.push_back(std::move(thread));
  }
}

auto StepGraphs::Builder::launching_lanes() const -> std::vector<LaneId> {
  std::vector<LaneId> lanes = {window_.thread};
  std::unordered_map<LaneId, int64_t> launches{{window_.thread, 0}};
  for (const Work& work : work_) {
    const EventId launch = index_.links.launch[work.id];
    const EventId host = launch != kNoEvent ? launch : index_.links.op[work.id];
    if (host == kNoEvent || trace_.ts_ns[host] < window_.begin_ns) continue;
    const LaneId lane = trace_.lane[host];
    if (++launches[lane] == 1 && lane != window_.thread) lanes.push_back(lane);
  }
  if (lanes.size() > kMaxThreads) {
    std::stable_sort(lanes.begin() + 1, lanes.end(),
                     [&](LaneId a, LaneId b) { return launches[a] > launches[b]; });
    lanes.resize(kMaxThreads);
    index_.limits.note(Limit::kThreads);
  }
  return lanes;
}

size_t StepGraphs::Builder::segment_at(const Thread& thread, int64_t ns) const {
  const auto at = std::upper_bound(thread.segments.begin(), thread.segments.end(), ns,
                                   [](int64_t value, const auto& one) { return value < one.end; });
  return static_cast<size_t>(at - thread.segments.begin());
}

auto StepGraphs::Builder::thread_of(LaneId lane) const -> const Thread* {
  for (const Thread& thread : threads_) {
    if (thread.lane == lane) return &thread;
  }
  return nullptr;
}

void StepGraphs::Builder::add_work(size_t place) {
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
  if (add_cpu_kernel(place)) {
    graph_.add_edge({work.from, work.to, work.end - work.begin, work.bound, EdgeKind::kTakes,
                     work.id, work.end - work.begin});
    last_of_stream_[stream] = place;
    return;
  }
  graph_.add_edge({work.from, work.to, work.end - work.begin, work.bound, EdgeKind::kTakes, work.id,
                   work.end - work.begin});
  std::vector<Reason> reasons;
  add_launch(work, reasons);
  add_stream_order(work, stream, reasons);
  add_other_streams(work, stream, reasons);
  add_recorded_order(work, stream);
  last_of_stream_[stream] = place;
  add_reasons(work, reasons);
}

bool StepGraphs::Builder::add_cpu_kernel(size_t place) {
  const Work& work = work_[place];
  const EventId op = index_.links.op[work.id];
  const bool called = index_.links.launch[work.id] == kNoEvent && op != kNoEvent &&
                      trace_.ts_ns[op] <= work.begin && work.end <= trace_.end_ns(op);
  const Thread* thread = called ? thread_of(trace_.lane[op]) : nullptr;
  if (thread == nullptr) return false;
  const size_t at = segment_at(*thread, work.begin);
  if (at >= thread->segments.size() || work.end > thread->segments[at].end) return false;
  const auto& segment = thread->segments[at];
  auto& others = cpu_kernels_[{thread->lane, at}];
  const bool first = others.empty();
  const Node from = first ? thread->nodes[at] : work_[others.back()].to;
  const int64_t from_ns = first ? segment.begin : work_[others.back()].end;
  if (from_ns > work.begin) return false;  // concurrent, not sequential
  graph_.add_edge({from, work.from, work.begin - from_ns, bound_of(segment.activity),
                   EdgeKind::kTakes, segment.event, own_ns(segment)});
  others.push_back(place);
  return true;
}

int64_t StepGraphs::Builder::own_ns(const HostTimeline::Segment& segment) const {
  return segment.event == kNoEvent ? 0 : trace_.dur_ns[segment.event];
}

void StepGraphs::Builder::add_ends() {
  const auto follows = [&](Node from, Node to, Bound bound) {
    graph_.add_edge({from, to, 0, bound, EdgeKind::kFollows, kNoEvent, 0});
  };
  for (const StepWindow::Step& step : window_.steps) {
    const bool is_last = &step == &window_.steps.back();
    int64_t end_ns = step.host_end_ns;
    std::vector<Node> owned;
    for (const EventId id : step.owned) {
      const auto found = work_index_.find(id);
      if (found == work_index_.end()) continue;
      owned.push_back(work_[found->second].to);
      end_ns = std::max(end_ns, work_[found->second].end);
    }
    if (!graph_.step_ends_.empty()) {
      end_ns = std::max(end_ns, graph_.times_[graph_.step_ends_.back()]);
    }
    const Node end = is_last ? end_ : graph_.add_node(end_ns);
    for (const Node node : owned) follows(node, end, Bound::kMemory);
    graph_.host_end_ = host_end_node(step.host_end_ns);
    follows(graph_.host_end_, end, Bound::kDispatch);
    if (!graph_.step_ends_.empty()) follows(graph_.step_ends_.back(), end, Bound::kDispatch);
    graph_.step_ends_.push_back(end);
  }
}

// The last point of the step's thread until `ns`.
auto StepGraphs::Builder::host_end_node(int64_t ns) const -> Node {
  const Thread& own = threads_.front();
  const auto after =
      std::upper_bound(own.segments.begin(), own.segments.end(), ns,
                       [](int64_t value, const auto& one) { return value < one.end; });
  return own.nodes[static_cast<size_t>(after - own.segments.begin())];
}

StepGraph StepGraphs::graph(const StepWindow& window) const {
  return Builder(*this, window).build();
}

}  // namespace epi::analysis
