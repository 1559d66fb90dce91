// SPDX-License-Identifier: Apache-2.0
// The ranks of one job: times of each rank, the rank that the others wait for and why, collectives
// and clocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/ranks/ranks.h"
#include "epilogue/base/json_writer.h"
#include "epilogue/report/idle_class.h"

namespace epi::report {

// A file of the job that could not be read.
struct UnreadableRank {
  std::string file;
  std::string message;
};

// Shows at most 16 ranks: beyond that, those with the longest and the shortest steps. `source` is
// the folder or the first file on the command line.
std::string ranks_text(const analysis::Ranks& ranks, const std::string& source, size_t width);
// All ranks and all columns.
std::string ranks_markdown(const analysis::Ranks& ranks, const std::string& source);
// Fills an open object.
void ranks_json(JsonWriter& json, const analysis::Ranks& ranks,
                const std::vector<UnreadableRank>& unreadable);

// "waiting for the host": what a rank did between two collectives.
const char* text_of(analysis::Between between);
// "host", for the JSON key "idle-host" of other verbs.
std::string short_name(IdleClass idle);

}  // namespace epi::report
