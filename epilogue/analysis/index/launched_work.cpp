// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/launched_work.h"

#include "epilogue/analysis/index/instances.h"

namespace epi::analysis {

using trace::EventId;
using trace::kNoEvent;

std::vector<LaunchedWork> launched_work(const TraceIndex& index) {
  const trace::Trace& trace = index.trace;
  std::vector<LaunchedWork> work(trace.size());
  for (const EventId id : index.ownership.everything().work) {
    const EventId launch = index.links.launch[id];
    const EventId host = launch != kNoEvent ? launch : index.links.op[id];
    if (host == kNoEvent) continue;
    work[host].ns += trace.dur_ns[id];
    ++work[host].count;
  }
  // Parents come before their children in the order.
  const auto& order = index.links.tree.order;
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const EventId parent = index.links.tree.parent[*id];
    if (parent == kNoEvent) continue;
    work[parent].ns += work[*id].ns;
    work[parent].count += work[*id].count;
  }
  const auto set_owned = [&](EventId id) {
    const auto owned = index.ownership.work_between(trace.ts_ns[id], trace.end_ns(id));
    work[id] = {owned.ns, owned.count};
  };
  for (const EventId id : order) {
    if (is_annotation(trace, id)) set_owned(id);
  }
  // Some profilers record steps as operators.
  for (const EventId id : index.ownership.marks().events) set_owned(id);
  return work;
}

}  // namespace epi::analysis
