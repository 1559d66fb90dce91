// SPDX-License-Identifier: Apache-2.0
// The traces behind the handles of the C interface.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "epilogue/trace.h"
#include "epilogue/verbs/traces.h"

namespace epi::c {

// The content of a handle. A call that uses it keeps it alive. Throws `Error` if the handle is
// null.
std::shared_ptr<const verbs::OpenTraces> open_traces_of(const epi_trace* trace);

// Throws `Error` if the file of a trace has changed since it was read: what was computed from it
// may be a mixture of old and new.
void refuse_changed(const verbs::TraceInput& input);

// Runs `work` while the calling thread reports the progress. Throws `Cancelled` if the callback
// asked for it: `cancel` is called then, and should make `work` return early. Rethrows what `work`
// throws.
void run_with_progress(epi_progress progress, void* user, const std::function<double()>& fraction,
                       const std::function<void()>& cancel, const std::function<void()>& work);

}  // namespace epi::c

struct epi_trace {
  std::shared_ptr<const epi::verbs::OpenTraces> content;
};
