// SPDX-License-Identifier: Apache-2.0
// What rules found, as text, JSON and JUnit's XML.
#pragma once

#include <string>
#include <vector>

#include "epilogue/analysis/expect/expect.h"
#include "epilogue/base/json_writer.h"

namespace epi::report {

using RuleResults = std::vector<analysis::RuleResult>;

// Each rule with what was guessed and found, and the events that break it; then the count.
std::string expect_text(const trace::Trace& trace, const RuleResults& results, bool markdown);
// The members `ok` and `rules` of an open object.
void expect_json(JsonWriter& json, const trace::Trace& trace, const RuleResults& results);
// A `testsuite` for one trace.
std::string expect_junit(const std::string& file, const trace::Trace& trace,
                         const RuleResults& results);

// A value in the unit of its rule, for people.
std::string found_text(const analysis::Rule& rule, double value);

}  // namespace epi::report
