// SPDX-License-Identifier: Apache-2.0
// The timeline of the page as JSON: columns of numbers. Strings are stored once, in a table of
// their own.
#pragma once

#include <optional>
#include <string>

#include "epilogue/analysis/time/diagnosis.h"
#include "epilogue/analysis/time/timeline.h"

namespace epi::report {

// Includes the critical path if there is a diagnosis.
std::string timeline_json(const analysis::TraceIndex& index, const analysis::Timeline& timeline,
                          const std::optional<analysis::Diagnosis>& diagnosis);

}  // namespace epi::report
