// SPDX-License-Identifier: Apache-2.0
// Reads the traces that a user names: files, or folders of ranks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "epilogue/trace/read_progress.h"
#include "epilogue/verbs/call.h"

namespace epi::verbs {

struct ReadTraces {
  std::vector<TraceInput> inputs;
  std::vector<std::string> notes;  // on files in a folder that are not traces
};

// Reads all files, several in parallel. Throws `Error` for the first that cannot be read.
ReadTraces read_traces(const std::vector<std::string>& given, const ReadingOptions& options,
                       trace::ReadProgress* progress = nullptr);
// Reads the files one after another, each on all cores, and forgets it after `use`. Calls `failed`
// for those that cannot be read.
void read_each_trace(const std::vector<std::string>& given, const ReadingOptions& options,
                     const Call::UseTrace& use, const Call::UseFailure& failed);
// Reads the bytes of a file, plain or compressed.
TraceInput read_trace_bytes(std::string bytes, const std::string& name,
                            const ReadingOptions& options, trace::ReadProgress* progress = nullptr);

// Rules for kernel names. Null if the file has no name. Throws `Error` with the line of a mistake.
std::shared_ptr<const analysis::NameRules> read_name_rules(const std::string& file);

}  // namespace epi::verbs
