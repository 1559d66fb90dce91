// SPDX-License-Identifier: Apache-2.0
// Traces of a PyTorch that was built without Kineto (Debian's): a list of CPU events without a
// category, in a process called "CPU functions".
#pragma once

#include "epilogue/trace/trace.h"

namespace epi::trace {

// Gives those events the category of operators, which have a namespace or are backward functions,
// or of annotations.
void categorize_legacy_events(Trace& trace);

}  // namespace epi::trace
