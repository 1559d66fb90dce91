// SPDX-License-Identifier: Apache-2.0
// The files that `epilogue run --trace FILE` writes: the trace, and its profiler table as text next
// to it.
#pragma once

#include "epilogue/cli/run/run_options.h"
#include "epilogue/cli/run/run_report.h"
#include "epilogue/trace/trace.h"

namespace epi::cli {

// Called before anything runs. Throws if --trace is a folder, or if its parent folder does not
// exist or is not writable.
void check_trace_folder(const RunFlags& flags);

// Called for each run before the first one starts. Throws if a file to write is an input of the
// run, or has a derived name and was not written by this tool (unless --force is given).
void check_record(const RunFlags& flags, const RunSizes& sizes);

// Writes both files and stores their paths in `result`. With lists of sizes, each run has its own
// files: mlp.json becomes mlp_batch64.json. Throws `Error` if writing fails.
void write_record(const RunFlags& flags, const RunSizes& sizes, const trace::Trace& trace,
                  const analysis::ProfilerTable& table, RunResult& result);

}  // namespace epi::cli
