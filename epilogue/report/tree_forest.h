// SPDX-License-Identifier: Apache-2.0
// The events of one stretch of a trace as nodes of a tree: operators, annotations and runtime calls
// of each thread, and the device work under the call that launched it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "epilogue/report/tree_report.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::report {

// Deeper than this no program nests; a file might, and would overflow the stack.
inline constexpr size_t kMaxTreeDepth = 1000;

struct TreeNode {
  trace::EventId id = trace::kNoEvent;
  size_t depth = 0;
  int64_t device_ns = 0;  // of what it and those below it launched
  bool device = false;
  bool launched = false;  // it or one below it started something
  std::vector<size_t> children{};
};

struct TreeThread {
  trace::LaneId lane = 0;
  std::vector<size_t> roots{};
};

class Forest {
 public:
  Forest(const trace::Trace& trace, const trace::Links& links, const TreeOptions& options);

  // Parents before their children.
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  // The main thread first: the one with the step or, where no event marks it, the one that launches
  // most. The others in the order of the trace.
  const std::vector<TreeThread>& threads() const { return threads_; }

 private:
  void add_host_events();
  void add_device_work();
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
