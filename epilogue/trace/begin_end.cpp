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
  // Files need not be sorted by time.
  std::stable_sort(halves.begin(), halves.end(),
                   [&](EventId a, EventId b) { return trace.ts_ns[a] < trace.ts_ns[b]; });
  std::unordered_map<LaneId, std::vector<EventId>> open;
  int64_t unpaired = 0;
  for (const EventId id : halves) {
    std::vector<EventId>& open_begins = open[trace.lane[id]];
    if (trace.phase[id] == Phase::kBegin) {
      open_begins.push_back(id);
    } else if (open_begins.empty()) {
      ++unpaired;
    } else {
      // Some writers omit the name of an end event. It matches any begin event.
      const bool matches =
          trace.name_of(id).empty() || trace.name[id] == trace.name[open_begins.back()];
      unpaired += matches ? 0 : 1;
      trace.phase[open_begins.back()] = Phase::kComplete;
      trace.dur_ns[open_begins.back()] = trace.ts_ns[id] - trace.ts_ns[open_begins.back()];
      open_begins.pop_back();
    }
  }
  for (const auto& [lane, open_begins] : open) unpaired += static_cast<int64_t>(open_begins.size());
  if (unpaired > 0) trace.defects.count(Defect::kUnpaired, unpaired);
}

}  // namespace epi::trace
