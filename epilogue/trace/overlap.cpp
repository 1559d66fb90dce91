// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/overlap.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace epi::trace {

std::vector<EventId> limit_overlap(const Trace& trace, std::vector<EventId> events) {
  if (events.size() <= kMaxOverlap) return events;
  std::vector<size_t> by_begin(events.size());
  for (size_t i = 0; i < events.size(); ++i) by_begin[i] = i;
  std::stable_sort(by_begin.begin(), by_begin.end(), [&](size_t a, size_t b) {
    if (trace.ts_ns[events[a]] != trace.ts_ns[events[b]]) {
      return trace.ts_ns[events[a]] < trace.ts_ns[events[b]];
    }
    return trace.dur_ns[events[a]] > trace.dur_ns[events[b]];
  });
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> open_ends;
  std::vector<bool> kept(events.size(), false);
  for (const size_t i : by_begin) {
    while (!open_ends.empty() && open_ends.top() <= trace.ts_ns[events[i]]) open_ends.pop();
    if (open_ends.size() == kMaxOverlap) continue;
    open_ends.push(trace.end_ns(events[i]));
    kept[i] = true;
  }
  size_t count = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    if (kept[i]) events[count++] = events[i];
  }
  events.resize(count);
  return events;
}

void count_deep_overlap(Trace& trace) {
  std::vector<EventId> annotations;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.category[id] == Category::kUserAnnotation && trace.is_span(id)) {
      annotations.push_back(id);
    }
  }
  const size_t count = annotations.size();
  if (limit_overlap(trace, std::move(annotations)).size() < count) {
    trace.defects.count(Defect::kDeepOverlap);
  }
}

}  // namespace epi::trace
