// SPDX-License-Identifier: Apache-2.0
// What the text and the page of the ranks of a job share.
#pragma once

#include <string>
#include <vector>

#include "epilogue/analysis/ranks/ranks.h"
#include "epilogue/report/text/table.h"

namespace epi::report {

// "3", or the file if it does not say which rank it is.
std::string rank_name(const analysis::RankData& rank);
// "late | NVIDIA H200 | 32 ranks | 12 steps each".
std::string ranks_title(const analysis::Ranks& ranks, const std::string& source, size_t width);
inline constexpr size_t kShownStragglers = 3;
// What limits the ranks, the straggler and its cause, what is not compared, clocks.
std::vector<std::string> ranks_sentences(const analysis::Ranks& ranks);

// All rows and columns.
Table ranks_table(const analysis::Ranks& ranks);
Table kinds_table(const analysis::Ranks& ranks);
Table advice_table(const analysis::Ranks& ranks, size_t max_rows);

}  // namespace epi::report
