// SPDX-License-Identifier: Apache-2.0
// The nesting of operators, annotations and steps in a trace under construction. Finds the range
// that contains a call on a given thread at a given time.
#pragma once

#include <unordered_map>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::profile {

class OpRanges {
 public:
  // `find` reads times from the trace, so a range may end after it was added.
  explicit OpRanges(const trace::Trace& trace) : trace_(trace) {}

  // Ranges of a thread must be added in the order of their start. `parent` is the enclosing range
  // or kNoEvent.
  void add(int64_t tid, trace::EventId range, trace::EventId parent);
  void add_step(int64_t tid, trace::EventId step);

  trace::EventId parent_of(trace::EventId range) const;
  bool is_step(trace::EventId range) const;

  // Returns the innermost operator or annotation of the thread that contains this span, in trace
  // time. If there is none, returns the enclosing step or kNoEvent.
  trace::EventId find(int64_t tid, int64_t begin_ns, int64_t end_ns) const;

 private:
  trace::EventId step_around(int64_t tid, int64_t begin_ns, int64_t end_ns) const;

  const trace::Trace& trace_;
  std::unordered_map<int64_t, std::vector<trace::EventId>> ranges_;  // by thread
  std::unordered_map<int64_t, std::vector<trace::EventId>> steps_;
  std::vector<trace::EventId> parents_;  // by event; a step is its own parent
};

}  // namespace epi::profile
