// SPDX-License-Identifier: Apache-2.0
// The results of rules, as text, JSON and JUnit XML.
#pragma once

#include <string>
#include <vector>

#include "epilogue/analysis/expect/expect.h"
#include "epilogue/base/json_writer.h"

namespace epi::report {

using RuleResults = std::vector<analysis::RuleResult>;

// Each rule with the values found and the events that break it, then the number of broken rules.
std::string expect_text(const trace::Trace& trace, const RuleResults& results, bool markdown);
// Writes the members `ok` and `rules` of an open object.
void expect_json(JsonWriter& json, const trace::Trace& trace, const RuleResults& results);
// A `testsuite` for one trace.
std::string expect_junit(const std::string& file, const trace::Trace& trace,
                         const RuleResults& results);

// A value in the unit of its rule: "234.3 us", "67.2 %".
std::string found_text(const analysis::Rule& rule, double value);

}  // namespace epi::report
