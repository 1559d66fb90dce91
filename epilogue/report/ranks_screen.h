// SPDX-License-Identifier: Apache-2.0
// The ranks of one run on one screen: what limits each rank, and which rank the others wait for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/ranks/arrivals.h"
#include "epilogue/report/screen_data.h"

namespace epi::report {

struct RankScreen {
  std::string name;  // "3", or the file if it does not contain its rank
  std::string device;
  int64_t steps = 0;
  analysis::Limiter limiter = analysis::Limiter::kNoDevice;
  double limiter_share = 0;      // of the critical path
  double unexplained_share = 0;  // of the step, waiting for something not in the file
  double step_ns = 0;            // the typical step
  double busy_share = 0;         // of the step, by any device work
  double communication_ns = 0;   // of a step, when collectives run
  std::string advice;            // what would help most; may be empty
  int64_t world_size = 0;        // ranks of the job, 0 if the file does not say
  std::vector<analysis::CollectiveTime> collectives;
};

RankScreen rank_screen(const analysis::TraceIndex& index, std::string name);

// At most `kScreenLines` lines. `source` is the folder or the first file on the command line.
std::string ranks_screen(const std::vector<RankScreen>& ranks, const std::string& source,
                         size_t width);

}  // namespace epi::report
