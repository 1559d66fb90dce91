// SPDX-License-Identifier: Apache-2.0
// Merges the logs of a recording into a trace.
#pragma once

#include <vector>

#include "epilogue/profile/event_recorder.h"
#include "epilogue/profile/step_span.h"
#include "epilogue/trace/trace.h"

namespace epi::profile {

// Consumes the recording: frees log chunks as it reads them.
trace::Trace collect(Recording recording, const std::vector<StepSpan>& steps);

}  // namespace epi::profile
