// SPDX-License-Identifier: Apache-2.0
// The name of the GPU that a trace was recorded on.
#pragma once

#include <string>

#include "epilogue/trace/trace.h"

namespace epi::analysis {

// The device's name as the driver reports it, with a count if there are several. Empty if the trace
// does not record it.
std::string device_name(const trace::Trace& trace);

}  // namespace epi::analysis
