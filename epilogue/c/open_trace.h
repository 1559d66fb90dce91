// SPDX-License-Identifier: Apache-2.0
// The traces behind the handles of the C interface.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "epilogue/cli/trace/session.h"
#include "epilogue/trace.h"

namespace epi::c {

// What an `epi_trace` refers to. Immutable, so that threads share it without locks.
struct OpenTrace {
  std::string title;  // the path that was opened, or how many
  bool is_folder = false;
  std::vector<cli::TraceInput> inputs;
  std::vector<std::string> notes;
};

// The content of a handle. A call that uses it keeps it alive. Throws `Error` if the handle is
// null.
std::shared_ptr<const OpenTrace> open_trace_of(const epi_trace* trace);

// Throws `Error` if the file of a trace has changed since it was read: what was computed from it
// may be a mixture of old and new.
void refuse_changed(const cli::TraceInput& input);

// Runs `work` while the calling thread reports the progress. Throws `Cancelled` if the callback
// asked for it: `cancel` is called then, and should make `work` return early. Rethrows what `work`
// throws.
void run_with_progress(epi_progress progress, void* user, const std::function<double()>& fraction,
                       const std::function<void()>& cancel, const std::function<void()>& work);

}  // namespace epi::c

struct epi_trace {
  std::shared_ptr<const epi::c::OpenTrace> content;
};
