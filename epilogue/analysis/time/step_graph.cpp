// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/step_graph.h"

#include <algorithm>
#include <cmath>

#include "epilogue/base/error.h"

namespace epi::analysis {

StepGraph::Node StepGraph::add_node(int64_t ns) {
  times_.push_back(ns);
  return static_cast<Node>(times_.size() - 1);
}

void StepGraph::finish() {
  std::stable_sort(edges_.begin(), edges_.end(),
                   [](const Edge& a, const Edge& b) { return a.to < b.to; });
  first_edge_.assign(times_.size() + 1, 0);
  std::vector<std::vector<Node>> following(times_.size());
  std::vector<uint32_t> open(times_.size(), 0);
  for (const Edge& edge : edges_) {
    ++first_edge_[edge.to + 1];
    ++open[edge.to];
    following[edge.from].push_back(edge.to);
  }
  for (size_t i = 1; i < first_edge_.size(); ++i) first_edge_[i] += first_edge_[i - 1];
  for (Node node = 0; node < times_.size(); ++node) {
    if (open[node] == 0) order_.push_back(node);
  }
  for (size_t i = 0; i < order_.size(); ++i) {
    for (const Node next : following[order_[i]]) {
      if (--open[next] == 0) order_.push_back(next);
    }
  }
  if (order_.size() != times_.size()) throw BugError("the graph of a step has a circle");
}

std::vector<PathPart> StepGraph::critical_path() const {
  std::vector<PathPart> path;
  for (Node node = 1; node != 0;) {
    const Edge* last = nullptr;
    for (uint32_t i = first_edge_[node]; i < first_edge_[node + 1]; ++i) {
      const Edge& edge = edges_[i];
      if (times_[edge.from] + edge.ns != times_[node]) continue;
      if (last == nullptr || times_[edge.from] > times_[last->from]) last = &edge;
    }
    if (last == nullptr) break;  // not reached: one edge to each node is as long as its time says
    if (last->ns > 0) {
      const bool goes_on =
          !path.empty() && path.back().bound == last->bound && path.back().event == last->event;
      if (goes_on) {
        path.back().begin_ns = times_[last->from];
      } else {
        path.push_back({times_[last->from], times_[node], last->bound, last->event});
      }
    }
    node = last->from;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

int64_t StepGraph::retimed(const NewDurations& durations, const WithoutBounds& without) const {
  std::vector<int64_t> times(times_.size(), 0);
  for (const Node node : order_) {
    for (uint32_t i = first_edge_[node]; i < first_edge_[node + 1]; ++i) {
      const Edge& edge = edges_[i];
      int64_t ns = without[static_cast<size_t>(edge.bound)] ? 0 : edge.ns;
      const auto changed = durations.find(edge.event);
      if (changed != durations.end()) {
        const bool gone = changed->second <= 0;
        if (gone && edge.kind == EdgeKind::kWaits) continue;
        if (gone) ns = 0;
        if (!gone && edge.kind == EdgeKind::kTakes && edge.event_ns > 0) {
          ns = std::llround(static_cast<double>(ns) * changed->second /
                            static_cast<double>(edge.event_ns));
        }
      }
      times[node] = std::max(times[node], times[edge.from] + ns);
    }
  }
  return times[1];
}

}  // namespace epi::analysis
