// SPDX-License-Identifier: Apache-2.0
// Searches the events around an event.
#pragma once

#include <cstddef>

#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

// The event itself or the innermost event around it for which `test` is true. kNoEvent if there is
// none. Looks at a limited number of events, because a malformed file may nest all of them.
// Notes the limit if there are more.
template <typename Test>
trace::EventId find_enclosing(const TraceIndex& index, trace::EventId id, Test&& test) {
  constexpr size_t kMaxSearched = 256;
  for (size_t i = 0; id != trace::kNoEvent; ++i, id = index.links.tree.parent[id]) {
    if (i == kMaxSearched) {
      index.limits.note(Limit::kEnclosingOperators);
      return trace::kNoEvent;
    }
    if (test(id)) return id;
  }
  return trace::kNoEvent;
}

}  // namespace epi::analysis
