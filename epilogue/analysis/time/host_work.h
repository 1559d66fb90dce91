// SPDX-License-Identifier: Apache-2.0
// What the program does on the host besides dispatching operators, by the operator or the Python
// function that takes most of the time.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/time/step_graph.h"

namespace epi::analysis {

struct HostWork {
  int64_t ns = 0;
  // Takes at least half of the time: an operator, else the innermost such Python function. Empty if
  // there is none, or stacks are not recorded.
  std::string name;
  int64_t name_ns = 0;
};

// Of the parts of a critical path.
HostWork host_work_on(const TraceIndex& index, std::span<const PathPart> path);

}  // namespace epi::analysis
