// SPDX-License-Identifier: Apache-2.0
// The parts of the first screen that have a file of their own.
#pragma once

#include <string>

#include "epilogue/report/screen_data.h"
#include "epilogue/report/units.h"

namespace epi::report {

inline std::string time_of(int64_t ns) { return time_text(static_cast<double>(ns)); }

// The step's time as a bar of letters, with their legend.
std::string bar_text(const ScreenData& data, size_t width);

// "GEMM 8192x768x3072 bf16"
std::string group_text(const analysis::WorkGroup& group);
// What the device worked on: at most so many groups, and the others as one.
std::string groups_text(const ScreenData& data, size_t most, size_t width);

// The first pieces of advice, what each saves, and what bounds the step after it.
std::string advice_text(const ScreenData& data, size_t width);

}  // namespace epi::report
