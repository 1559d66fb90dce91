// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/host_work.h"

#include <algorithm>
#include <vector>

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::NameId;

struct FunctionTimes {
  int64_t inside_ns = 0;  // in the host work
  int64_t all_ns = 0;     // of its frames that overlap it
};

// Of two functions that take most of the time, the inner one takes less in all.
void find_function(const trace::Trace& trace, const Intervals& when, HostWork& work) {
  std::vector<FunctionTimes> functions(trace.names.size());
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id) || trace.category[id] != Category::kPythonFunction) continue;
    const int64_t inside_ns = length(clipped(when, trace.ts_ns[id], trace.end_ns(id)));
    if (inside_ns == 0) continue;
    functions[trace.name[id]].inside_ns += inside_ns;
    functions[trace.name[id]].all_ns += trace.dur_ns[id];
  }
  const FunctionTimes* innermost = nullptr;
  for (NameId name = 0; name < functions.size(); ++name) {
    const FunctionTimes& one = functions[name];
    if (2 * one.inside_ns < work.ns || trace.names[name].starts_with("<built-in")) continue;
    if (innermost != nullptr && one.all_ns >= innermost->all_ns) continue;
    innermost = &one;
    work.name = trace.names[name];
    // A function that calls itself is counted more than once.
    work.name_ns = std::min(one.inside_ns, work.ns);
  }
}

}  // namespace

HostWork host_work_on(const TraceIndex& index, std::span<const PathPart> path) {
  const trace::Trace& trace = index.trace;
  HostWork work;
  Intervals when;
  std::vector<int64_t> ops(trace.names.size());
  for (const PathPart& part : path) {
    if (part.bound != Bound::kHostWork) continue;
    work.ns += part.end_ns - part.begin_ns;
    when.push_back({part.begin_ns, part.end_ns});
    const bool is_op =
        part.event != trace::kNoEvent && trace.category[part.event] == Category::kCpuOp;
    if (is_op) ops[trace.name[part.event]] += part.end_ns - part.begin_ns;
  }
  if (work.ns == 0) return work;
  const auto longest = std::max_element(ops.begin(), ops.end());
  if (2 * *longest >= work.ns) {
    work.name = trace.names[static_cast<NameId>(longest - ops.begin())];
    work.name_ns = *longest;
  } else {
    find_function(trace, merged(std::move(when)), work);
  }
  return work;
}

}  // namespace epi::analysis
