// SPDX-License-Identifier: Apache-2.0
// Reads the ranks of a job one after another, and keeps only what their analysis needs.
#pragma once

#include <string>
#include <vector>

#include "epilogue/report/ranks/ranks_report.h"
#include "epilogue/verbs/call.h"

namespace epi::verbs {

struct RankInputs {
  std::vector<analysis::RankData> ranks;
  std::vector<report::UnreadableRank> unreadable;
  std::vector<report::UnreadableRank> repeated;  // see remove_repeated
};

// Takes the rank from the name of the file ("rank3", "worker_3") if the trace does not record it.
analysis::RankData rank_of(const TraceInput& input);

// Throws `Error` if no file can be read.
RankInputs read_ranks(Call& call, const std::vector<TraceSource>& sources);

// Removes files of ranks that an earlier file has.
void remove_repeated(RankInputs& inputs);
void note_skipped(Call& call, const RankInputs& inputs);
// Whether the files can be of one job: no rank is in two files, and all have the same number of
// ranks.
bool is_one_job(const RankInputs& inputs);

// The result about one job.
report::RanksResult job_result(RankInputs&& inputs, const std::vector<TraceSource>& sources);

}  // namespace epi::verbs
