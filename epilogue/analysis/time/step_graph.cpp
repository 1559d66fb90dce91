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
  if (order_.size() != times_.size()) throw BugError("the graph of a step has a cycle");
}

std::vector<PathPart> StepGraph::critical_path() const {
  std::vector<PathPart> path;
  for (Node node = 1; node != 0;) {
    const Edge* last = nullptr;
    for (uint32_t i = first_edge_[node]; i < first_edge_[node + 1]; ++i) {
      const Edge& edge = edges_[i];
      if (edge.kind == EdgeKind::kOrder) continue;
      if (times_[edge.from] + edge.ns != times_[node]) continue;
      if (last == nullptr || times_[edge.from] > times_[last->from]) last = &edge;
    }
    if (last == nullptr) break;  // unreachable: at least one edge determines each node's time
    if (last->ns > 0) {
      const bool extends_previous =
          !path.empty() && path.back().bound == last->bound && path.back().event == last->event;
      if (extends_previous) {
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

bool StepChange::is_none() const {
  return durations.empty() && outside_ops == 1 &&
         std::all_of(scale.begin(), scale.end(), [](double one) { return one == 1; });
}

std::optional<int64_t> StepGraph::changed_ns(const Edge& edge, const StepChange& change) {
  const double scale = std::min(change.scale[static_cast<size_t>(edge.bound)],
                                edge.is_outside_ops ? change.outside_ops : 1);
  const auto scaled = [](int64_t ns, double factor) {
    return factor == 1 ? ns : std::llround(static_cast<double>(ns) * factor);
  };
  if (edge.kind == EdgeKind::kOrder) {
    return change.has_faster_host() ? std::optional(edge.ns) : std::nullopt;
  }
  const auto changed = change.durations.find(edge.event);
  if (changed == change.durations.end()) return scaled(edge.ns, scale);
  const bool gone = changed->second <= 0;
  if (gone && edge.kind == EdgeKind::kWaits) return std::nullopt;
  if (gone) return 0;
  const bool is_event = edge.kind == EdgeKind::kTakes && edge.event_ns > 0;
  const double factor = is_event ? changed->second / static_cast<double>(edge.event_ns) : 1;
  return scaled(edge.ns, std::min(scale, factor));
}

void StepWithout::add(const StepWithout& other) {
  ns += other.ns;
  for (size_t i = 0; i < without_ns.size(); ++i) without_ns[i] += other.without_ns[i];
}

double StepWithout::saves(Limiter limiter) const {
  const auto place = static_cast<size_t>(limiter);
  return ns <= 0 || place >= without_ns.size() ? 0 : 1 - without_ns[place] / ns;
}

namespace {

// Without this limiter, the host is faster: it no longer enforces the recorded order of streams.
constexpr bool is_of_host(Limiter limiter) {
  return limiter != Limiter::kGpu && limiter != Limiter::kCommunication &&
         limiter != Limiter::kCopies && limiter < Limiter::kNotInTrace;
}

constexpr uint32_t bit_of(Limiter limiter) { return 1U << static_cast<unsigned>(limiter); }

}  // namespace

// One pass for all sets. The inner loops are over arrays of doubles, so that they become vector
// instructions: a trace has millions of edges.
auto StepGraph::times_without(const Sets& sets, std::span<const Node> nodes) const
    -> std::vector<SetTimes> {
  constexpr double kNever = -1e300;
  std::array<SetTimes, kLimiters> takes{};  // 1 if a limiter's edges take their time
  SetTimes waits{};                         // added to edges of calls that wait
  SetTimes ordered{};                       // added to edges of the recorded order
  for (size_t set = 0; set < kSets; ++set) {
    bool is_faster_host = false;
    for (size_t i = 0; i < kLimiters; ++i) {
      const bool is_free = (sets[set] >> i & 1U) != 0;
      takes[i][set] = is_free ? 0 : 1;
      is_faster_host |= is_free && is_of_host(static_cast<Limiter>(i));
    }
    waits[set] = (sets[set] & bit_of(Limiter::kSynchronizing)) != 0 ? kNever : 0;
    ordered[set] = is_faster_host ? 0 : kNever;
  }
  constexpr SetTimes kNothing{};
  SetTimes all{};
  all.fill(1);
  std::vector<SetTimes> reached(times_.size());
  for (const Node node : order_) {
    SetTimes here = reached[node];
    for (uint32_t i = first_edge_[node]; i < first_edge_[node + 1]; ++i) {
      const Edge& edge = edges_[i];
      const SetTimes& from = reached[edge.from];
      const SetTimes& share =
          edge.is_closing ? all : takes[static_cast<size_t>(limiter_of(edge.bound))];
      const SetTimes& more = edge.kind == EdgeKind::kOrder                       ? ordered
                             : edge.kind == EdgeKind::kWaits && !edge.is_closing ? waits
                                                                                 : kNothing;
      const auto ns = static_cast<double>(edge.ns);
      for (size_t set = 0; set < kSets; ++set) {
        here[set] = std::max(here[set], from[set] + ns * share[set] + more[set]);
      }
    }
    reached[node] = here;
  }
  std::vector<SetTimes> times;
  for (const Node node : nodes) times.push_back(reached[node]);
  return times;
}

auto StepGraph::each_limiter() -> Sets {
  Sets sets{};
  for (size_t i = 0; i < kSets; ++i) sets[i] = bit_of(static_cast<Limiter>(i));
  return sets;
}

StepWithout StepGraph::without_each_on_host() const {
  const Node nodes[] = {host_end_};
  const SetTimes times = times_without(each_limiter(), nodes)[0];
  StepWithout step;
  step.ns = static_cast<double>(times_[host_end_] - begin_ns_);
  step.without_ns.fill(step.ns);
  std::copy(times.begin(), times.end(), step.without_ns.begin());
  return step;
}

std::vector<StepWithout> StepGraph::without_each() const {
  const std::vector<SetTimes> ends = times_without(each_limiter(), step_ends_);
  std::vector<StepWithout> steps(ends.size());
  SetTimes before{};
  int64_t before_ns = begin_ns_;
  for (size_t i = 0; i < ends.size(); ++i) {
    const int64_t end_ns = times_[step_ends_[i]];
    steps[i].ns = static_cast<double>(end_ns - before_ns);
    for (size_t set = 0; set < kSets; ++set) {
      steps[i].without_ns[set] = ends[i][set] - before[set];
    }
    steps[i].without_ns[static_cast<size_t>(Limiter::kNotInTrace)] = steps[i].ns;
    before = ends[i];
    before_ns = end_ns;
  }
  return steps;
}

std::vector<double> StepGraph::without_ns(Limiter a, Limiter b) const {
  Sets sets{};
  sets.fill(bit_of(a) | bit_of(b));
  std::vector<double> steps;
  double before = 0;
  for (const SetTimes& end : times_without(sets, step_ends_)) {
    steps.push_back(end[0] - before);
    before = end[0];
  }
  return steps;
}

RetimedStep StepGraph::retimed(const StepChange& change) const {
  struct Reached {
    int64_t ns = 0;
    const Edge* last = nullptr;  // the edge that determines `ns`
    int64_t last_ns = 0;
  };
  std::vector<Reached> reached(times_.size());
  for (const Node node : order_) {
    Reached& here = reached[node];
    for (uint32_t i = first_edge_[node]; i < first_edge_[node + 1]; ++i) {
      const auto ns = changed_ns(edges_[i], change);
      if (!ns) continue;
      const int64_t from_ns = reached[edges_[i].from].ns;
      const int64_t then = from_ns + *ns;
      const bool later = here.last == nullptr || then > here.ns;
      // If two edges end together, the shorter one is the one waited for, as in `critical_path`.
      if (later || (then == here.ns && *ns < here.last_ns)) here = {then, &edges_[i], *ns};
    }
  }
  RetimedStep result;
  result.window_ns = reached[1].ns;
  for (const Edge* edge = reached[1].last; edge != nullptr; edge = reached[edge->from].last) {
    result.bounds[static_cast<size_t>(edge->bound)] += reached[edge->to].last_ns;
  }
  return result;
}

}  // namespace epi::analysis
