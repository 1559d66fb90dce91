// SPDX-License-Identifier: Apache-2.0
// Rules held against a trace. A rule holds for each instance of its subject unless it says
// otherwise; a subject that occurs nowhere breaks it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/expect/rule.h"
#include "epilogue/analysis/index/subject.h"

namespace epi::analysis {

struct BrokenInstance {
  std::string instance;                // "mlp_fwd"; empty for an average or a median
  std::optional<int64_t> begin_ns;     // in the trace's own time; none for an average
  std::optional<double> found;         // in the rule's unit; none: the trace does not tell
  std::vector<trace::EventId> events;  // that break it; the longest first where it is about time
};

// Why a rule is broken, where the numbers do not show it.
enum class RuleNote : uint8_t {
  kNone,
  kNoSubject,       // nothing in the trace has the subject's name
  kNoOtherSubject,  // nothing in the other trace has it
  kUnknown,         // the trace does not have what is measured
  kLowerBound,      // it has a lower bound alone
  kLongestWaits,    // the events are those that the device waited for longest
  kMissingKernels,  // that the other trace has
};

struct RuleResult {
  Rule rule;
  bool ok = false;
  // What was found: the average or median that was asked for, or the value of the first instance
  // that breaks the rule, or of the one nearest to it. None where the trace does not tell.
  std::optional<double> found;
  std::optional<double> found_min;  // over the instances
  std::optional<double> found_max;
  int64_t instances = 0;
  std::vector<BrokenInstance> broken;
  RuleNote note = RuleNote::kNone;
  std::vector<std::string> missing;  // kernels, of kMissingKernels
};

// Gives the trace of a path in a `same kernels as`; throws `Error` where it cannot be read.
using LoadTrace = std::function<const TraceIndex&(const std::string& path)>;

RuleResult check_rule(const TraceIndex& index, const Rule& rule, const LoadTrace& load);
// The same for a subject that is at hand.
RuleResult check_rule(const TraceIndex& index, const Rule& rule, const Subject& subject,
                      const LoadTrace& load);
// What the rule is about.
Subject rule_subject(const TraceIndex& index, const Rule& rule);

// Rules that hold for these traces, to start from: kernels and kinds of each annotation, view
// operators that launch nothing, device time with some room. At least one trace.
std::vector<std::string> rules_that_hold(const std::vector<const TraceIndex*>& traces);

}  // namespace epi::analysis
