// SPDX-License-Identifier: Apache-2.0
// The graph of one step of a trace.
#pragma once

#include "tests/analysis/modeled_trace.h"

namespace epi::analysis {

inline StepGraph graph_of(const ModeledTrace& made, const StepModel& step) {
  return made.models.graphs().graph(
      {step.window.begin,
       step.window.end,
       made.trace.lane[step.event],
       {{step.host.end, {step.owned.work.begin(), step.owned.work.end()}}}});
}

}  // namespace epi::analysis
