// SPDX-License-Identifier: Apache-2.0
// The GPU that a trace was recorded on.
#pragma once

#include <string>

#include "epilogue/trace/trace.h"

namespace epi::analysis {

// The name of the device, as the driver reports it; several of them with their count. Empty where
// the file does not say.
std::string device_name(const trace::Trace& trace);

}  // namespace epi::analysis
