// SPDX-License-Identifier: Apache-2.0
// Parses a rule of `expect`. rule.h has the grammar.
#pragma once

#include <string_view>

#include "epilogue/analysis/expect/rule.h"
#include "epilogue/base/result.h"

namespace epi::analysis {

// A failure gives the column, counted from 1: `column 10: "kernals" is not a measure: ...`.
Result<Rule> parse_rule(std::string_view text);

}  // namespace epi::analysis
