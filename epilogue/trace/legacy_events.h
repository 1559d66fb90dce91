// SPDX-License-Identifier: Apache-2.0
// Traces of a PyTorch that was built without Kineto (Debian's): a list of CPU events without a
// category, in a process called "CPU functions".
#pragma once

#include "epilogue/trace/trace.h"

namespace epi::trace {

// Gives those events the category of operators. Annotations are not told apart in such files.
void categorize_legacy_events(Trace& trace);

}  // namespace epi::trace
