// SPDX-License-Identifier: Apache-2.0
// The timeline of a page as JSON: columns of numbers, texts apart and each once.
#pragma once

#include <string>

#include "epilogue/analysis/time/timeline.h"

namespace epi::report {

std::string timeline_json(const analysis::TraceIndex& index, const analysis::Timeline& timeline);

}  // namespace epi::report
