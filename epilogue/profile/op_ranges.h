// SPDX-License-Identifier: Apache-2.0
// The operators, annotations and steps of a trace that is being made, by their nesting: what a call
// on some thread at some time was part of.
#pragma once

#include <unordered_map>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::profile {

class OpRanges {
 public:
  // Times are read when asked for: ranges may end after they were added.
  explicit OpRanges(const trace::Trace& trace) : trace_(trace) {}

  // In the order in which a thread's ranges begin; `parent` is the one around it, or kNoEvent.
  void add(int64_t tid, trace::EventId range, trace::EventId parent);
  void add_step(int64_t tid, trace::EventId step);

  trace::EventId parent_of(trace::EventId range) const;
  bool is_step(trace::EventId range) const;

  // The innermost operator or annotation of the thread that holds this span of the trace's time;
  // where none does the step, or kNoEvent.
  trace::EventId find(int64_t tid, int64_t begin_ns, int64_t end_ns) const;

 private:
  trace::EventId step_around(int64_t tid, int64_t begin_ns, int64_t end_ns) const;

  const trace::Trace& trace_;
  std::unordered_map<int64_t, std::vector<trace::EventId>> ranges_;  // by thread
  std::unordered_map<int64_t, std::vector<trace::EventId>> steps_;
  std::vector<trace::EventId> parents_;  // by event; steps are their own
};

}  // namespace epi::profile
