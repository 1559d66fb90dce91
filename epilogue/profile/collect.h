// SPDX-License-Identifier: Apache-2.0
// The logs of a recording, merged into a trace.
#pragma once

#include <vector>

#include "epilogue/profile/event_recorder.h"
#include "epilogue/profile/step_span.h"
#include "epilogue/trace/trace.h"

namespace epi::profile {

// Takes the recording apart: logs are given back as they are read.
trace::Trace collect(Recording recording, const std::vector<StepSpan>& steps);

}  // namespace epi::profile
