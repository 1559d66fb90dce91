// SPDX-License-Identifier: Apache-2.0
// Reads the ranks of a job one after another, and keeps only what their analysis needs.
#pragma once

#include <string>
#include <vector>

#include "epilogue/cli/trace/session.h"
#include "epilogue/report/ranks_report.h"

namespace epi::cli {

struct RankInputs {
  std::vector<analysis::RankData> ranks;
  std::vector<report::UnreadableRank> unreadable;
};

analysis::RankData rank_of(const TraceInput& input);

// Throws `Error` if no file can be read.
RankInputs read_ranks(Session& session, const std::vector<std::string>& words,
                      const ReadingFlags& flags);

// The name of a job in a header: its folder, or its first file.
std::string job_name(const Session& session, const std::vector<std::string>& words);

}  // namespace epi::cli
