// SPDX-License-Identifier: Apache-2.0
// Parts of the first screen: the bar (screen_bar.cpp), the table of GPU work (screen_work.cpp) and
// the advice (screen_advice.cpp).
#pragma once

#include <string>

#include "epilogue/report/screen_data.h"
#include "epilogue/report/units.h"

namespace epi::report {

inline std::string time_of(int64_t ns) { return time_text(static_cast<double>(ns)); }

// The time of the step as a bar of letters, with a legend.
std::string bar_text(const ScreenData& data, size_t width);

// "GEMM 8192x768x3072 bf16"
std::string group_text(const analysis::WorkGroup& group);
// The table of GPU work: at most `most` groups, and the rest as one row.
std::string groups_text(const ScreenData& data, size_t most, size_t width);

// The first pieces of advice, what each saves, and what limits the step after it.
std::string advice_text(const ScreenData& data, size_t width);

}  // namespace epi::report
