// SPDX-License-Identifier: Apache-2.0
// Checks rules against a trace. By default, a rule must hold for each instance of its subject. A
// rule whose subject does not occur is broken.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/expect/rule.h"
#include "epilogue/analysis/step/step_models.h"

namespace epi::analysis {

struct BrokenInstance {
  std::string instance;                // "mlp_fwd"; empty for an average or a median
  std::optional<int64_t> begin_ns;     // in trace time; none for an average or a median
  std::optional<double> found;         // in the rule's unit; none: unknown from the trace
  std::vector<trace::EventId> events;  // that break the rule; longest first for times
};

// Why a rule is broken, if the numbers do not show it.
enum class RuleNote : uint8_t {
  kNone,
  kNoSubject,       // nothing in the trace has the subject's name
  kNoOtherSubject,  // nothing in the other trace has it
  kUnknown,         // the trace does not record the measured quantity
  kLowerBound,      // only a lower bound is known
  kLongestWaits,    // `events` start after the longest waits of the device
  kMissingKernels,  // the other trace has kernels that this one does not
  kNotCompared,     // no collective of all ranks of a group is in their files
  kWholeTrace,      // the steps own no device work, so the rule is about the whole trace
};

struct RuleResult {
  Rule rule;
  bool ok = false;
  // The average or median of the rule, or the value of the first instance that breaks it, or else
  // the value closest to breaking it. None if the trace does not record it.
  std::optional<double> found;
  std::optional<double> found_min;  // over the instances
  std::optional<double> found_max;
  int64_t instances = 0;
  std::vector<BrokenInstance> broken;
  RuleNote note = RuleNote::kNone;
  std::vector<std::string> missing;  // kernel names, for kMissingKernels
};

// Returns the trace for a path in `same kernels as`. Throws `Error` if it cannot be read.
using LoadTrace = std::function<const StepModels&(const std::string& path)>;

RuleResult check_rule(const StepModels& models, const Rule& rule, const LoadTrace& load);
// The same for a subject that is already resolved.
RuleResult check_rule(const StepModels& models, const Rule& rule, const StepGroup& subject,
                      const LoadTrace& load);
StepGroup rule_subject(const StepModels& models, const Rule& rule);

// Rules that hold for these traces, as a starting point: kernels and kinds of each annotation, view
// operators that launch nothing, device time with a margin. Needs at least one trace.
std::vector<std::string> suggest_rules(const std::vector<const StepModels*>& traces);

}  // namespace epi::analysis
