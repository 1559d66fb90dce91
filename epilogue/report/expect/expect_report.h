// SPDX-License-Identifier: Apache-2.0
// The results of rules, as text, JSON and JUnit XML.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/expect/expect.h"
#include "epilogue/report/description/events.h"
#include "epilogue/report/text/style.h"
#include "epilogue/trace/trace.h"

namespace epi::report {

using RuleResults = std::vector<analysis::RuleResult>;

// The rules for one trace, or for the ranks of a job.
struct ExpectResult {
  const trace::Trace& trace;
  RuleResults results;

  bool ok() const;
  std::vector<struct RuleItem> rules() const;
};
// Each rule with the values found and the events that break it, then the number of broken rules.
std::string text_of(const ExpectResult& result, const Style& style);
// A `testsuite` for one trace.
std::string expect_junit(const std::string& file, const ExpectResult& result);

// A value in the unit of its rule: "234.3 us", "67.2 %".
std::string found_text(const analysis::Rule& rule, double value);
// The same as a number: times in microseconds.
std::optional<double> found_number(const analysis::Rule& rule, const std::optional<double>& value);
// Why a rule is broken, if the numbers do not show it; otherwise empty.
std::string rule_note_text(const analysis::RuleResult& result);

struct RuleItem {
  const trace::Trace& trace;
  const analysis::RuleResult& result;

  std::optional<double> number(const std::optional<double>& value) const {
    return found_number(result.rule, value);
  }
  std::vector<struct BrokenItem> broken() const;
};
struct BrokenItem {
  const RuleItem& rule;
  const analysis::BrokenInstance& broken;

  std::string instance() const;
};

template <>
struct Description<BrokenItem> {
  using Item = BrokenItem;
  static constexpr const char* kName = "broken";
  static constexpr std::tuple kMembers{
      Member{"instance", "instance", Unit::kNone, "the instance that breaks the rule",
             &Item::instance},
      Member{"found", "found", Unit::kNumber, "its value, times in us",
             [](const Item& one) { return one.rule.number(one.broken.found); }},
      Member{"events", "events", Unit::kNone, "the events behind the value",
             [](const Item& one) { return event_rows(one.rule.trace, one.broken.events); }}};
};

template <>
struct Description<RuleItem> {
  using Item = RuleItem;
  static constexpr const char* kName = "rule";
  static constexpr std::tuple kMembers{
      Member{"rule", "rule", Unit::kNone, "the rule as written",
             [](const Item& one) -> auto& { return one.result.rule.text; }},
      Member{"ok", "ok", Unit::kNone, "whether it holds",
             [](const Item& one) { return one.result.ok; }},
      Member{"found", "found", Unit::kNumber, "the value that decides, times in us",
             [](const Item& one) { return one.number(one.result.found); }},
      Member{"found_min", "least", Unit::kNumber, "the smallest value of an instance",
             [](const Item& one) { return one.number(one.result.found_min); }},
      Member{"found_max", "most", Unit::kNumber, "the largest value of an instance",
             [](const Item& one) { return one.number(one.result.found_max); }},
      Member{"instances", "instances", Unit::kCount, "number of instances of its subject",
             [](const Item& one) { return one.result.instances; }},
      Member{"note", "note", Unit::kNone, "why it is broken, if the numbers do not show it",
             [](const Item& one) {
               const std::string note = rule_note_text(one.result);
               return note.empty() ? std::nullopt : std::optional(note);
             }},
      Member{"broken", "broken", Unit::kNone, "the instances that break it", &Item::broken}};
};

template <>
struct Description<ExpectResult> {
  static constexpr const char* kName = "expect";
  static constexpr std::tuple kMembers{
      Member{"ok", "ok", Unit::kNone, "whether all rules hold", &ExpectResult::ok},
      Member{"rules", "rules", Unit::kNone, "every rule", &ExpectResult::rules}};
};

}  // namespace epi::report
