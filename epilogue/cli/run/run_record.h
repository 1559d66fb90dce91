// SPDX-License-Identifier: Apache-2.0
// What `epilogue run --trace FILE` leaves: the trace, and its table beside it as text.
#pragma once

#include "epilogue/cli/run/run_options.h"
#include "epilogue/cli/run/run_report.h"
#include "epilogue/trace/trace.h"

namespace epi::cli {

// Throws where --trace names a folder that is not there or cannot be written to: before anything
// runs.
void check_trace_folder(const RunFlags& flags);

// Writes both files and notes their paths in `result`. With lists of sizes each run has its own:
// mlp.json becomes mlp_batch64.json. Throws `Error` where that fails.
void write_record(const RunFlags& flags, const RunSizes& sizes, const trace::Trace& trace,
                  const analysis::ProfilerTable& table, RunResult& result);

}  // namespace epi::cli
