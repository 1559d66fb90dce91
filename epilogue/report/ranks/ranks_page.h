// SPDX-License-Identifier: Apache-2.0
// The ranks of a job as one HTML page, without scripts: what `ranks` says, and one step with the
// ranks as lanes.
#pragma once

#include <string>

#include "epilogue/analysis/ranks/ranks.h"

namespace epi::report {

inline constexpr size_t kMaxLanes = 64;

std::string ranks_page(const analysis::Ranks& ranks, const std::string& source);

}  // namespace epi::report
