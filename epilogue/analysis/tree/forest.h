// SPDX-License-Identifier: Apache-2.0
// The events of a time range as nodes of trees: operators, annotations and runtime calls of each
// thread, and device work below the call that launched it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

// No real program nests deeper. A malformed file might, and would overflow the stack.
inline constexpr size_t kMaxTreeDepth = 1000;

// What a tree covers.
struct TreeRange {
  int64_t begin_ns = 0;  // events that start in [begin, end)
  int64_t end_ns = 0;
  trace::EventId root = trace::kNoEvent;  // only this event and its children, if set
  trace::EventId step = trace::kNoEvent;  // its thread is the main one, if set
  size_t depth = SIZE_MAX;                // levels below the root
};

struct TreeNode {
  trace::EventId id = trace::kNoEvent;
  size_t parent = SIZE_MAX;  // SIZE_MAX for roots
  size_t depth = 0;
  int64_t device_ns = 0;  // of the work behind this node (`launched_work`)
  bool device = false;
  bool launched = false;  // there is such work
  std::vector<size_t> children{};
};

struct TreeThread {
  trace::LaneId lane = 0;
  int64_t device_ns = 0;  // of the work that it launched
  std::vector<size_t> roots{};
};

class Forest {
 public:
  Forest(const TraceIndex& index, const TreeRange& range);

  // Parents come before their children.
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  // The main thread is first: the one with the step or, if no event marks a step, the one with the
  // most launches. The other threads are in the order of the trace.
  const std::vector<TreeThread>& threads() const { return threads_; }

 private:
  void add_host_events();
  void add_device_work();
  void add(trace::EventId id, size_t parent, bool device);
  void move_main_thread_first();

  static constexpr size_t kNoParent = SIZE_MAX;
  const TraceIndex& index_;
  const trace::Trace& trace_;
  TreeRange range_;
  std::vector<TreeNode> nodes_;
  std::vector<TreeThread> threads_;
  std::unordered_map<trace::EventId, size_t> places_;
};

}  // namespace epi::analysis
