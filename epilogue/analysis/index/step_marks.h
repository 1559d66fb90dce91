// SPDX-License-Identifier: Apache-2.0
// Which events of a trace mark its steps. A trace has one family of them: `ProfilerStep#3` of
// PyTorch's profiler, iterations of serving engines by their names, or what a user's pattern finds.
#pragma once

#include <string>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::analysis {

struct StepMarks {
  std::string name;                    // of all of them: "ProfilerStep*", "execute_*"
  std::vector<trace::EventId> events;  // by begin, none inside of another
};

// Without events where nothing is marked. `Trace::step_pattern` decides where it is set.
StepMarks step_marks(const trace::Trace& trace);

}  // namespace epi::analysis
