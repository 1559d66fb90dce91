// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/tree/forest.h"

#include <algorithm>
#include <tuple>

#include "epilogue/analysis/index/launched_work.h"

namespace epi::analysis {

using trace::EventId;
using trace::kNoEvent;

Forest::Forest(const TraceIndex& index, const TreeRange& range)
    : index_(index), trace_(index.trace), range_(range) {
  add_host_events();
  add_device_work();
  move_main_thread_first();
}

void Forest::add_host_events() {
  const trace::OpTree& tree = index_.links.tree;
  const auto work = launched_work(index_);
  for (const EventId id : tree.order) {
    if (trace_.ts_ns[id] < range_.begin_ns || trace_.ts_ns[id] >= range_.end_ns) continue;
    const auto parent = places_.find(tree.parent[id]);
    if (parent != places_.end()) {
      add(id, parent->second, false);
    } else if (range_.root == kNoEvent || range_.root == id) {
      add(id, kNoParent, false);
    } else {
      continue;
    }
    nodes_.back().device_ns = work[id].ns;
    nodes_.back().launched = work[id].count > 0;
  }
}

// Adds device work below its launch, or below its operator if the launch is unknown.
void Forest::add_device_work() {
  for (EventId id = 0; id < trace_.size(); ++id) {
    if (!trace_.is_span(id) || !trace::is_device_work(trace_.category[id])) continue;
    const EventId launch = index_.links.launch[id];
    const EventId launcher = launch != kNoEvent ? launch : index_.links.op[id];
    const auto place = places_.find(launcher);
    if (place == places_.end()) continue;
    add(id, place->second, true);
    for (TreeThread& thread : threads_) {
      if (thread.lane == trace_.lane[launcher]) thread.device_ns += trace_.dur_ns[id];
    }
  }
}

void Forest::add(EventId id, size_t parent, bool device) {
  const size_t place = nodes_.size();
  nodes_.push_back({.id = id, .device = device});
  if (parent == kNoParent) {
    const trace::LaneId lane = trace_.lane[id];
    if (threads_.empty() || threads_.back().lane != lane) threads_.push_back({lane, 0, {}});
    threads_.back().roots.push_back(place);
  } else {
    nodes_[place].parent = parent;
    nodes_[place].depth = nodes_[parent].depth + 1;
    nodes_[parent].children.push_back(place);
  }
  if (device) {
    nodes_[place].device_ns = trace_.dur_ns[id];
  } else {
    places_[id] = place;
  }
}

void Forest::move_main_thread_first() {
  const auto rank_of = [&](const TreeThread& thread) {
    int64_t launching = 0;
    int64_t host_ns = 0;
    for (const size_t root : thread.roots) {
      launching += nodes_[root].launched ? 1 : 0;
      host_ns += trace_.dur_ns[nodes_[root].id];
    }
    const bool has_step = range_.step != kNoEvent && trace_.lane[range_.step] == thread.lane;
    return std::tuple(has_step, launching, host_ns);
  };
  std::vector<std::tuple<bool, int64_t, int64_t>> ranks;
  for (const TreeThread& thread : threads_) ranks.push_back(rank_of(thread));
  const auto main =
      threads_.begin() + (std::max_element(ranks.begin(), ranks.end()) - ranks.begin());
  if (main != threads_.end()) std::rotate(threads_.begin(), main, main + 1);
}

}  // namespace epi::analysis
