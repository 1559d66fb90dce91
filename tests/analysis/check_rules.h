// SPDX-License-Identifier: Apache-2.0
// Checks `expect` rules against traces in tests/data.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "epilogue/analysis/expect/expect.h"
#include "epilogue/analysis/expect/rule_parser.h"
#include "tests/analysis/modeled_trace.h"

namespace epi::analysis {

using Names = std::vector<std::string>;

inline Rule parsed(const std::string& text) {
  auto rule = parse_rule(text);
  if (!rule) throw std::runtime_error(text + ": " + rule.error().message);
  return std::move(*rule);
}

// A trace that rules are checked against. Paths in `same kernels as` are relative to tests/data.
class RuleChecker {
 public:
  explicit RuleChecker(const std::string& file) : made_(file) {}

  RuleResult check(const std::string& text) {
    return check_rule(models(), parsed(text), [this](const std::string& path) -> const StepModels& {
      auto& other = others_[path];
      if (other == nullptr) other = std::make_unique<ModeledTrace>(path);
      return other->models;
    });
  }
  const StepModels& models() const { return made_.models; }
  Names names(const std::vector<trace::EventId>& events) const {
    Names result;
    for (const trace::EventId id : events) result.emplace_back(made_.trace.name_of(id));
    return result;
  }

 private:
  ModeledTrace made_;
  std::map<std::string, std::unique_ptr<ModeledTrace>> others_;
};

inline void expect_all_hold(RuleChecker& trace, const Names& rules) {
  for (const std::string& rule : rules) {
    const RuleResult result = trace.check(rule);
    EXPECT_TRUE(result.ok) << rule << ": found " << result.found.value_or(-1) << ", note "
                           << static_cast<int>(result.note);
    EXPECT_TRUE(result.broken.empty()) << rule;
  }
}

// Each rule is broken by existing instances, not because its subject is missing.
inline void expect_all_broken(RuleChecker& trace, const Names& rules) {
  for (const std::string& rule : rules) {
    const RuleResult result = trace.check(rule);
    EXPECT_FALSE(result.ok) << rule;
    EXPECT_FALSE(result.broken.empty()) << rule;
  }
}

}  // namespace epi::analysis
