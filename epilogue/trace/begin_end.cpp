// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/begin_end.h"

#include <algorithm>
#include <unordered_map>

namespace epi::trace {

void join_begin_end(Trace& trace) {
  std::vector<EventId> halves;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.phase[id] == Phase::kBegin || trace.phase[id] == Phase::kEnd) halves.push_back(id);
  }
  // Files need not be in the order of time.
  std::stable_sort(halves.begin(), halves.end(),
                   [&](EventId a, EventId b) { return trace.ts_ns[a] < trace.ts_ns[b]; });
  std::unordered_map<LaneId, std::vector<EventId>> open;
  int64_t alone = 0;
  for (const EventId id : halves) {
    std::vector<EventId>& begun = open[trace.lane[id]];
    if (trace.phase[id] == Phase::kBegin) {
      begun.push_back(id);
    } else if (begun.empty()) {
      ++alone;
    } else {
      // An end without a name, as some writers have it, fits any begin.
      const bool fits = trace.name_of(id).empty() || trace.name[id] == trace.name[begun.back()];
      alone += fits ? 0 : 1;
      trace.phase[begun.back()] = Phase::kComplete;
      trace.dur_ns[begun.back()] = trace.ts_ns[id] - trace.ts_ns[begun.back()];
      begun.pop_back();
    }
  }
  for (const auto& [lane, begun] : open) alone += static_cast<int64_t>(begun.size());
  if (alone > 0) trace.defects.count(Defect::kUnpaired, alone);
}

}  // namespace epi::trace
