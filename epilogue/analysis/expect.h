// SPDX-License-Identifier: Apache-2.0
// Rules held against a trace. A rule holds for each instance of its subject unless it says
// otherwise; a subject that occurs nowhere breaks it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/rule.h"
#include "epilogue/analysis/subject.h"

namespace epi::analysis {

struct BrokenInstance {
  std::string instance;                // "mlp_fwd", "median of 3 instances"
  std::optional<int64_t> begin_ns;     // in the trace's own time; none for an average
  std::optional<double> found;         // in the rule's unit; none: the trace does not tell
  std::vector<trace::EventId> events;  // that break it; the longest first where it is about time
};

struct RuleResult {
  Rule rule;
  bool ok = false;
  // What was found: the value of all instances, or that of the first that breaks the rule, or the
  // average or median that was asked for. None where there is nothing, or the trace does not tell.
  std::optional<double> found;
  double found_min = 0;  // over the instances
  double found_max = 0;
  int64_t instances = 0;
  std::vector<BrokenInstance> broken;
  std::string note;  // why, where numbers do not say it
};

// Gives the trace of a path in a `same kernels as`; throws `Error` where it cannot be read.
using LoadTrace = std::function<const Examined&(const std::string& path)>;

RuleResult check_rule(const Examined& examined, const Rule& rule, const LoadTrace& load);

// Rules that hold for this trace, to start from: kernels and kinds of each annotation, view
// operators that launch nothing, device time with some room.
std::vector<std::string> rules_that_hold(const Examined& examined);

}  // namespace epi::analysis
