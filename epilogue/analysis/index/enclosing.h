// SPDX-License-Identifier: Apache-2.0
// Searches the events around an event.
#pragma once

#include <cstddef>

#include "epilogue/trace/op_tree.h"

namespace epi::analysis {

// The event itself or the innermost event around it for which `test` is true. kNoEvent if there is
// none. Looks at a limited number of events, because a malformed file may nest all of them.
template <typename Test>
trace::EventId find_enclosing(const trace::OpTree& tree, trace::EventId id, Test&& test) {
  constexpr size_t kMaxSearched = 256;
  for (size_t i = 0; i < kMaxSearched && id != trace::kNoEvent; ++i, id = tree.parent[id]) {
    if (test(id)) return id;
  }
  return trace::kNoEvent;
}

}  // namespace epi::analysis
