// SPDX-License-Identifier: Apache-2.0
// The timeline of a page as JSON: columns of numbers, texts apart and each once.
#pragma once

#include <optional>
#include <string>

#include "epilogue/analysis/time/diagnosis.h"
#include "epilogue/analysis/time/timeline.h"

namespace epi::report {

// With the critical path of what was diagnosed.
std::string timeline_json(const analysis::TraceIndex& index, const analysis::Timeline& timeline,
                          const std::optional<analysis::Diagnosis>& diagnosis);

}  // namespace epi::report
