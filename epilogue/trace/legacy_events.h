// SPDX-License-Identifier: Apache-2.0
// Traces from a PyTorch built without Kineto (such as Debian's): a list of CPU events without a
// category, in a process named "CPU functions".
#pragma once

#include "epilogue/trace/trace.h"

namespace epi::trace {

// Assigns a category to these events. A name with a namespace, or of a backward function, is an
// operator. Any other name is an annotation.
void categorize_legacy_events(Trace& trace);

}  // namespace epi::trace
