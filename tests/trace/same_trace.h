// SPDX-License-Identifier: Apache-2.0
// Compares the events of two traces. Interned ids of names and lanes may differ.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "epilogue/trace/trace.h"

namespace epi::trace {

// All fields of one event as text. `with_args` = false leaves out the arguments, which repeat ids
// that have columns.
inline std::string event_text(const Trace& trace, EventId id, bool with_args = true) {
  const Lane& lane = trace.lanes[trace.lane[id]];
  return fmt::format("{} {} \"{}\" {}{}/{}{} {}+{} external {} correlation {} {}",
                     static_cast<char>(trace.phase[id]), trace.category_text(id), trace.name_of(id),
                     lane.pid, lane.pid_text, lane.tid, lane.tid_text, trace.ts_ns[id],
                     trace.dur_ns[id], trace.external_id[id], trace.correlation[id],
                     with_args ? trace.args_of(id) : "");
}

inline void expect_same_events(const Trace& a, const Trace& b, bool with_args = true) {
  ASSERT_EQ(a.size(), b.size());
  for (EventId id = 0; id < a.size(); ++id) {
    ASSERT_EQ(event_text(a, id, with_args), event_text(b, id, with_args)) << "event " << id;
  }
}

}  // namespace epi::trace
