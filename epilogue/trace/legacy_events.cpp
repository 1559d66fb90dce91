// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/legacy_events.h"

#include <algorithm>

namespace epi::trace {

void categorize_legacy_events(Trace& trace) {
  const auto is_legacy = [](const Lane& lane) { return lane.pid_text == "CPU functions"; };
  if (std::none_of(trace.lanes.begin(), trace.lanes.end(), is_legacy)) return;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.category[id] == Category::kNone && trace.is_span(id) &&
        is_legacy(trace.lanes[trace.lane[id]])) {
      const std::string_view name = trace.name_of(id);
      const bool is_op = name.find("::") != name.npos || name.find("Backward") != name.npos;
      trace.category[id] = is_op ? Category::kCpuOp : Category::kUserAnnotation;
    }
  }
}

}  // namespace epi::trace
