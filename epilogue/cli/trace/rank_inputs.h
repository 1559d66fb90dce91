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
  std::vector<report::UnreadableRank> repeated;  // see remove_repeated
};

// Takes the rank from the name of the file ("rank3", "worker_3") if the trace does not record it.
analysis::RankData rank_of(const TraceInput& input);

// Throws `Error` if no file can be read.
RankInputs read_ranks(Session& session, const std::vector<std::string>& words,
                      const ReadingFlags& flags);

// Removes files of ranks that an earlier file has.
void remove_repeated(RankInputs& inputs);
void note_skipped(Session& session, const RankInputs& inputs);
// Whether the files can be of one job: no rank is in two files, and all have the same number of
// ranks.
bool is_one_job(const RankInputs& inputs);

// The name of a job in a header: its folder, or its first file.
std::string job_name(const Session& session, const std::vector<std::string>& words);

}  // namespace epi::cli
