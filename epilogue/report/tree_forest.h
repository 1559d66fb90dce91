// SPDX-License-Identifier: Apache-2.0
// The events of a time range as nodes of trees: operators, annotations and runtime calls of each
// thread, and device work below the call that launched it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "epilogue/report/tree_report.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::report {

// No real program nests deeper. A malformed file might, and would overflow the stack.
inline constexpr size_t kMaxTreeDepth = 1000;

struct TreeNode {
  trace::EventId id = trace::kNoEvent;
  size_t parent = SIZE_MAX;  // SIZE_MAX for roots
  size_t depth = 0;
  int64_t device_ns = 0;  // of work launched by this node and its descendants
  bool device = false;
  bool launched = false;  // this node or a descendant launched work
  std::vector<size_t> children{};
};

struct TreeThread {
  trace::LaneId lane = 0;
  std::vector<size_t> roots{};
};

class Forest {
 public:
  Forest(const trace::Trace& trace, const trace::Links& links, const TreeOptions& options);

  // Parents come before their children.
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  // The main thread is first: the one with the step or, if no event marks a step, the one with the
  // most launches. The other threads are in the order of the trace.
  const std::vector<TreeThread>& threads() const { return threads_; }

 private:
  void add_host_events();
  void add_device_work();
  void sum_up_device_time();
  void add(trace::EventId id, size_t parent, bool device);
  void move_main_thread_first();

  static constexpr size_t kNoParent = SIZE_MAX;
  const trace::Trace& trace_;
  const trace::Links& links_;
  const TreeOptions& options_;
  std::vector<TreeNode> nodes_;
  std::vector<TreeThread> threads_;
  std::unordered_map<trace::EventId, size_t> places_;
};

}  // namespace epi::report
