// SPDX-License-Identifier: Apache-2.0
// Reads the traces that a user names: files, or folders of ranks.
#pragma once

#include <string>
#include <vector>

#include "epilogue/cli/trace/session.h"
#include "epilogue/trace/read_progress.h"

namespace epi::cli {

struct ReadTraces {
  std::vector<TraceInput> inputs;
  std::vector<std::string> notes;  // on files in a folder that are not traces
};

// Reads all files, several in parallel. Throws `Error` for the first that cannot be read. Ignores
// the names file of the flags.
ReadTraces read_traces(const std::vector<std::string>& given, const ReadingFlags& flags,
                       trace::ReadProgress* progress = nullptr);
// Reads the files one after another, each on all cores, and forgets it after `use`. Calls `failed`
// for those that cannot be read.
void read_each_trace(const std::vector<std::string>& given, const ReadingFlags& flags,
                     const Session::UseTrace& use, const Session::UseFailure& failed);
// Reads the bytes of a file, plain or compressed.
TraceInput read_trace_bytes(std::string bytes, const std::string& name, const ReadingFlags& flags,
                            trace::ReadProgress* progress = nullptr);

}  // namespace epi::cli
