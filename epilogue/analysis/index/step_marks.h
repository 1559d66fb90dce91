// SPDX-License-Identifier: Apache-2.0
// Which events of a trace mark its steps. A trace has one family of step events: `ProfilerStep#3`
// from PyTorch's profiler, the named iterations of a serving engine, or the matches of a user's
// pattern.
#pragma once

#include <string>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct StepMarks {
  std::string name;                    // of the family: "ProfilerStep*", "execute_*"
  std::vector<trace::EventId> events;  // by start, none inside another
};

// No events if the trace marks no steps. `Trace::step_pattern` takes precedence if it is set.
StepMarks step_marks(const trace::Trace& trace);

}  // namespace epi::analysis
