// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/tree_forest.h"

#include <algorithm>
#include <tuple>

namespace epi::report {

using trace::EventId;
using trace::kNoEvent;

Forest::Forest(const trace::Trace& trace, const trace::Links& links, const TreeOptions& options)
    : trace_(trace), links_(links), options_(options) {
  add_host_events();
  add_device_work();
  sum_up_device_time();
  move_main_thread_first();
}

void Forest::add_host_events() {
  for (const EventId id : links_.tree.order) {
    if (trace_.ts_ns[id] < options_.begin_ns || trace_.ts_ns[id] >= options_.end_ns) continue;
    const auto parent = places_.find(links_.tree.parent[id]);
    if (parent != places_.end()) {
      add(id, parent->second, false);
    } else if (options_.root == kNoEvent || options_.root == id) {
      add(id, kNoParent, false);
    }
  }
}

// Adds device work below its launch, or below its operator if the launch is unknown.
void Forest::add_device_work() {
  for (EventId id = 0; id < trace_.size(); ++id) {
    if (!trace_.is_span(id) || !trace::is_device_work(trace_.category[id])) continue;
    const EventId launcher = links_.launch[id] != kNoEvent ? links_.launch[id] : links_.op[id];
    const auto place = places_.find(launcher);
    if (place == places_.end()) continue;
    add(id, place->second, true);
  }
}

// Parents come before their children.
void Forest::sum_up_device_time() {
  for (size_t i = nodes_.size(); i-- > 0;) {
    const TreeNode& node = nodes_[i];
    if (node.parent == kNoParent) continue;
    nodes_[node.parent].device_ns += node.device_ns;
    nodes_[node.parent].launched |= node.device || node.launched;
  }
}

void Forest::add(EventId id, size_t parent, bool device) {
  const size_t place = nodes_.size();
  nodes_.push_back({.id = id, .device = device});
  if (parent == kNoParent) {
    const trace::LaneId lane = trace_.lane[id];
    if (threads_.empty() || threads_.back().lane != lane) threads_.push_back({lane, {}});
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
    const bool has_step = options_.step != kNoEvent && trace_.lane[options_.step] == thread.lane;
    return std::tuple(has_step, launching, host_ns);
  };
  std::vector<std::tuple<bool, int64_t, int64_t>> ranks;
  for (const TreeThread& thread : threads_) ranks.push_back(rank_of(thread));
  const auto main =
      threads_.begin() + (std::max_element(ranks.begin(), ranks.end()) - ranks.begin());
  if (main != threads_.end()) std::rotate(threads_.begin(), main, main + 1);
}

}  // namespace epi::report
